// Generated from the OpenAPI document by client/scripts/generate-types.js. Do not edit.

export interface components {
  schemas: {
    UserGroupBody: {
      /**
       * @description The id that you use for this user group in your own database. Unique within a workspace and an environment; compared exactly.
       * @example customer-42
       */
      user_group_id: string & (unknown & unknown)
      /**
       * @description Name of the user group. Stays as it is where it is left out.
       * @example Example customer
       */
      name?: string & (unknown & unknown)
      /**
       * @description Schema id to data source: the id of a data source, or the id that you gave it when you created it. Replaced whole; null or {} clears it; stays as it is where it is left out.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and in SQL. At most 64 KiB as JSON, at most 32 levels deep, no U+0000. Replaced whole; null clears it; stays as it is where it is left out.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties?: {
        [key: string]: unknown
      } | null
    }
    RotationBody: {
      /**
       * @description The current token of the user group whose token is replaced.
       * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
       */
      current_token: string
      /**
       * @description For how long the old token stays valid for viewing. It can never rotate again.
       * @default 0
       * @example 3600
       */
      grace_period_seconds?: number
    }
    GetOrCreateResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      /**
       * @description Whether this call created the user group.
       * @example false
       */
      new_user_group: boolean
      user_group: {
        /**
         * @description Internal id of the user group. There is no need to record it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user group token to store, and to render embedded dashboards with.
         * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
         */
        token: string
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description The user_group_id that was sent.
         * @example customer-42
         */
        provided_id: string
        /**
         * @description The properties, as they were sent; null where there are none.
         * @example {
         *       "region": "EU",
         *       "plan": "gold"
         *     }
         */
        properties: {
          [key: string]: unknown
        } | null
      }
    }
    UpdateResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      /**
       * @description Always false: this operation never creates.
       * @example false
       */
      new_user_group: boolean
      user_group: {
        /**
         * @description Internal id of the user group. There is no need to record it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user group token to store, and to render embedded dashboards with.
         * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
         */
        token: string
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description The user_group_id that was sent.
         * @example customer-42
         */
        provided_id: string
        /**
         * @description The properties, as they were sent; null where there are none.
         * @example {
         *       "region": "EU",
         *       "plan": "gold"
         *     }
         */
        properties: {
          [key: string]: unknown
        } | null
        /**
         * @description The environment of the user group: that of the API token that created it.
         * @example Customer
         * @enum {unknown}
         */
        api_environment_tag: 'Customer' | 'Testing'
      }
    }
    RotationResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      user_group: {
        /**
         * @description Internal id of the user group. There is no need to record it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user group token to store, and to render embedded dashboards with.
         * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
         */
        token: string
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description The user_group_id that was sent.
         * @example customer-42
         */
        provided_id: string
        /**
         * @description The environment of the user group: that of the API token that created it.
         * @example Customer
         * @enum {unknown}
         */
        api_environment_tag: 'Customer' | 'Testing'
      }
    }
    IntrospectionBody: {
      /**
       * @description The user group token that a dashboard was opened with.
       * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
       */
      token: string
      /**
       * @description Is not looked at.
       * @example user_group
       */
      token_type_hint?: string
    }
    IntrospectionResponse:
      | {
          /** @constant */
          active: true
          /** @constant */
          token_type: 'user_group'
          /**
           * @description The user_group_id.
           * @example customer-42
           */
          sub: string
          /**
           * @description When the token was made, in seconds since the Unix epoch.
           * @example 1790000000
           */
          iat: number
          /**
           * @description When the token stops; only where it was replaced, with a grace period, in seconds since the Unix epoch.
           * @example 1790000600
           */
          exp?: number
          /**
           * @description Internal id of the user group. There is no need to record it.
           * @example 1
           */
          team_id: number
          /**
           * @description Name of the user group.
           * @example Example customer
           */
          name: string
          /**
           * @description The environment of the user group: that of the API token that created it.
           * @example Customer
           * @enum {unknown}
           */
          api_environment_tag: 'Customer' | 'Testing'
          /**
           * @description Schema id to data source: the id of a data source, or the id that you gave it when you created it. Replaced whole; null or {} clears it; stays as it is where it is left out.
           * @example {
           *       "40": "213"
           *     }
           */
          mapping: {
            [key: string]: string
          } | null
          /** @description By the keys of the mapping, those entries that name a registered schema and data source. */
          data_sources: {
            [key: string]: {
              /** @example 213 */
              id: number
              /** @example warehouse-eu */
              provided_id: string
              /** @example Warehouse EU */
              name: string
            }
          }
          /**
           * @description The properties, as they were sent; null where there are none.
           * @example {
           *       "region": "EU",
           *       "plan": "gold"
           *     }
           */
          properties: {
            [key: string]: unknown
          } | null
        }
      | {
          /**
           * @description Whatever the reason.
           * @constant
           */
          active: false
        }
    ApiToken: {
      /**
       * @description Its id.
       * @example 213
       */
      id: number
      /** @example backend */
      name: string
      /**
       * @description The environment of the user group: that of the API token that created it.
       * @example Customer
       * @enum {unknown}
       */
      api_environment_tag: 'Customer' | 'Testing'
      /**
       * @example [
       *       "write"
       *     ]
       */
      scopes: ('read' | 'write' | 'introspect' | 'admin')[]
      /**
       * Format: date-time
       * @description When it was made (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      created_at: string
      /**
       * @description When it stops (RFC 3339, UTC); null where it is not so.
       * @example null
       */
      expires_at: string | null
      /**
       * @description When it was revoked (RFC 3339, UTC); null where it is not so.
       * @example null
       */
      revoked_at: string | null
      /**
       * @description When it was last used, to the minute (RFC 3339, UTC); null where it is not so.
       * @example null
       */
      last_used_at: string | null
      /**
       * @description The id of the API token that took its place; null where none did.
       * @example null
       */
      replaced_by: number | null
      /**
       * @description How many calls it may make: a second, and after the colon at once. Null where that is what the service is set to.
       * @example 500:2000
       */
      rate_limit: string | null
    }
    ApiTokenBody: {
      /**
       * @description What it is for.
       * @example backend
       */
      name: string & (unknown & unknown)
      /**
       * @description What it may do.
       * @example [
       *       "write"
       *     ]
       */
      scopes: ('read' | 'write' | 'introspect' | 'admin')[]
      /**
       * @description For how long it is valid; for good where it is left out.
       * @example 7776000
       */
      expires_in_seconds?: number
    }
    ApiTokenListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      api_tokens: components['schemas']['ApiToken'][]
    }
    ApiTokenResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      api_token: components['schemas']['ApiToken']
    }
    ApiTokenRotationBody: {
      /**
       * @description For how long the old one works on: 0 to 2592000, 30 days.
       * @default 86400
       * @example 86400
       */
      overlap_seconds?: number
    }
    ApiTokenRotationResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      api_token: components['schemas']['ApiToken']
      /**
       * @description Is shown this once.
       * @example uga_customer_…
       */
      token: string
      replaces: components['schemas']['ApiToken']
    }
    AuditEventListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      audit_events: {
        /**
         * @description A UUID of version 7: ids are in the order of time.
         * @example 019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45
         */
        event_id: string
        /**
         * Format: date-time
         * @description When it was changed (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        occurred_at: string
        /**
         * @description What was changed, and how.
         * @enum {unknown}
         */
        action:
          | 'user_group.created'
          | 'user_group.updated'
          | 'user_group.token_rotated'
          | 'user_group.grace_period_ended'
          | 'user_group.suspended'
          | 'user_group.resumed'
          | 'user_group.deleted'
          | 'user_group.restored'
          | 'api_token.created'
          | 'api_token.rotated'
          | 'api_token.limited'
          | 'api_token.revoked'
          | 'workspace.created'
          | 'schema.created'
          | 'schema.deleted'
          | 'data_source.created'
          | 'data_source.deleted'
          | 'console_session.created'
          | 'audit_log.pruned'
        /**
         * @description `api_token:` and the id of the API token, or `cli:` and the name of the operator.
         * @example api_token:3
         */
        author: string
        /**
         * @description The `X-Request-Id` of the answer; null where there was no request.
         * @example k3Jf81Qz-2s
         */
        request_id: string | null
        /** @description The user group that was changed; null where it was none. */
        user_group: {
          /**
           * @description Its id.
           * @example 213
           */
          team_id: number
          /**
           * @description The user_group_id that was sent.
           * @example customer-42
           */
          provided_id: string
        } | null
        /**
         * @description By the action: `changed_fields`, `grace_period_seconds`, the id of an API token, a schema or a data source, and the like. Never a secret.
         * @example {
         *       "changed_fields": [
         *         "mapping"
         *       ]
         *     }
         */
        details: Record<string, never> | null
      }[]
      /**
       * @description What to send as `cursor` for the next page; null where there is none. A page may have fewer entries than asked for, and none, and the next one more.
       * @example null
       */
      next_cursor: string | null
    }
    DataSourceBody: {
      /**
       * @description The schema that it is for.
       * @example 213
       */
      schema_id: number
      /**
       * @description Your id of it.
       * @example sales
       */
      provided_id: string & (unknown & unknown)
      /**
       * @description Its name.
       * @example Sales
       */
      name: string & (unknown & unknown)
    }
    DataSourceListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      data_sources: {
        /**
         * @description Its id.
         * @example 213
         */
        id: number
        /**
         * @description Your id of it.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description When it was registered (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
        /**
         * @description The schema that it is for.
         * @example 213
         */
        schema_id: number
      }[]
      /**
       * @description What to send as `cursor` for the next page; null where there is none. A page may have fewer entries than asked for, and none, and the next one more.
       * @example null
       */
      next_cursor: string | null
    }
    DataSourceResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      data_source: {
        /**
         * @description Its id.
         * @example 213
         */
        id: number
        /**
         * @description Your id of it.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description When it was registered (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
        /**
         * @description The schema that it is for.
         * @example 213
         */
        schema_id: number
      }
    }
    DeletedResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      /** @constant */
      deleted: true
    }
    DeletedUserGroupListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      user_groups: {
        /**
         * @description Internal id of the user group. There is no need to record it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user_group_id that was sent.
         * @example customer-42
         */
        provided_id: string
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * Format: date-time
         * @description When it was deleted (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        deleted_at: string
        /**
         * @description Whose call it was: `api_token:` and the id of the API token, or `cli:` and the name of the operator; null where it was not kept yet.
         * @example api_token:3
         */
        deleted_by: string | null
      }[]
      /**
       * @description What to send as `cursor` for the next page; null where there is none. A page may have fewer entries than asked for, and none, and the next one more.
       * @example null
       */
      next_cursor: string | null
    }
    DiffResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      differences: {
        /**
         * @description A JSON Pointer (RFC 6901).
         * @example /properties/plan
         */
        path: string
        /**
         * @description Left out where there was nothing.
         * @example gold
         */
        before?: unknown
        /**
         * @description Left out where there is nothing.
         * @example silver
         */
        after?: unknown
      }[]
    }
    ExportRow: {
      /**
       * @description The user_group_id that was sent.
       * @example customer-42
       */
      user_group_id: string
      /**
       * @description Name of the user group. Stays as it is where it is left out.
       * @example Example customer
       */
      name: string & (unknown & unknown)
      /**
       * @description Schema id to data source: the id of a data source, or the id that you gave it when you created it. Replaced whole; null or {} clears it; stays as it is where it is left out.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and in SQL. At most 64 KiB as JSON, at most 32 levels deep, no U+0000. Replaced whole; null clears it; stays as it is where it is left out.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties: {
        [key: string]: unknown
      } | null
    }
    /** @description Of a row; the last one is the summary, and an answer without it was cut off. */
    ImportLine:
      | {
          /**
           * @description On which line the row starts.
           * @example 2
           */
          line: number
          /**
           * @description Null where it could not be told.
           * @example customer-42
           */
          user_group_id: string | null
          /**
           * @example created
           * @enum {unknown}
           */
          outcome: 'created' | 'updated' | 'unchanged' | 'refused'
          error?: {
            /**
             * @description Stable: for programs.
             * @example validation_failed
             * @enum {unknown}
             */
            code:
              | 'malformed_request'
              | 'malformed_json'
              | 'body_required'
              | 'validation_failed'
              | 'name_required'
              | 'invalid_method_override'
              | 'invalid_idempotency_key'
              | 'unauthenticated'
              | 'forbidden'
              | 'user_group_not_found'
              | 'token_not_found'
              | 'not_found'
              | 'method_not_allowed'
              | 'request_timeout'
              | 'token_superseded'
              | 'idempotency_key_in_use'
              | 'already_exists'
              | 'in_use'
              | 'revision_mismatch'
              | 'body_too_large'
              | 'unsupported_media_type'
              | 'idempotency_key_reused'
              | 'rate_limited'
              | 'headers_too_large'
              | 'internal'
              | 'not_implemented'
              | 'unavailable'
            /**
             * @description For a person; may change.
             * @example name: must be a string
             */
            message: string
            /** @description Only where fields are at fault. */
            fields?: {
              /**
               * @description A JSON Pointer (RFC 6901) into the body.
               * @example /name
               */
              path: string
              /** @example must be a string */
              message: string
            }[]
          }
        }
      | {
          summary: {
            /**
             * @description How many there were.
             * @example 1000
             */
            rows: number
            /**
             * @description How many user groups are new.
             * @example 990
             */
            created: number
            /**
             * @description How many were changed.
             * @example 0
             */
            updated: number
            /**
             * @description How many were as described already.
             * @example 0
             */
            unchanged: number
            /**
             * @description How many rows were refused.
             * @example 10
             */
            refused: number
            /**
             * @description Whether nothing was changed.
             * @example false
             */
            dry_run: boolean
          }
        }
    ImportRow: {
      /**
       * @description The id that you use for this user group in your own database. Unique within a workspace and an environment; compared exactly.
       * @example customer-42
       */
      user_group_id: string & (unknown & unknown)
      /**
       * @description Name of the user group. Stays as it is where it is left out.
       * @example Example customer
       */
      name?: string & (unknown & unknown)
      /**
       * @description Schema id to data source: the id of a data source, or the id that you gave it when you created it. Replaced whole; null or {} clears it; stays as it is where it is left out.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and in SQL. At most 64 KiB as JSON, at most 32 levels deep, no U+0000. Replaced whole; null clears it; stays as it is where it is left out.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties?: {
        [key: string]: unknown
      } | null
    }
    IsolationResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      findings: {
        /**
         * @description `shared`: several user groups see the same data. `unresolved`: their mappings name nothing that is registered.
         * @enum {unknown}
         */
        kind: 'shared' | 'unresolved'
        /** @example 40 */
        schema: string
        /** @example 213 */
        data_source: string
        registered: {
          /**
           * @description Its id.
           * @example 213
           */
          id: number
          /** @example warehouse-eu */
          provided_id: string
          /** @example Warehouse EU */
          name: string
        } | null
        /** @description The first ten of them. */
        user_groups: {
          /**
           * @description Internal id of the user group. There is no need to record it.
           * @example 1
           */
          team_id: number
          /**
           * @description The user_group_id that was sent.
           * @example customer-42
           */
          provided_id: string
          /**
           * @description Name of the user group.
           * @example Example customer
           */
          name: string
        }[]
      }[]
      /**
       * @description What to send as `cursor` for the next page; null where there is none. A page may have fewer entries than asked for, and none, and the next one more.
       * @example null
       */
      next_cursor: string | null
    }
    LeakedTokenBody: {
      /**
       * @description A user group token or an API token.
       * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
       */
      token: string
      /**
       * @description Has it stop at once: the user group gets another token, or where this one was replaced before, its grace period ends; an API token is revoked.
       * @default false
       */
      rotate?: boolean
    }
    LeakedTokenResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      /**
       * @description `unknown`: no token of this workspace and environment.
       * @enum {unknown}
       */
      kind: 'user_group_token' | 'api_token' | 'unknown'
      /** @description Whether it worked when it was asked about. */
      works: boolean
      user_group?: components['schemas']['ManagedUserGroup']
      /**
       * @description Until when it is valid, or was, where it was replaced (RFC 3339, UTC); null where it is not so.
       * @example null
       */
      valid_until?: string | null
      /** @description Whether this call made a new user group token. */
      rotated?: boolean
      api_token?: components['schemas']['ApiToken']
    }
    ManagedUserGroup: {
      /**
       * @description Internal id of the user group. There is no need to record it.
       * @example 1
       */
      team_id: number
      /**
       * @description The user_group_id that was sent.
       * @example customer-42
       */
      provided_id: string
      /**
       * @description The environment of the user group: that of the API token that created it.
       * @example Customer
       * @enum {unknown}
       */
      api_environment_tag: 'Customer' | 'Testing'
      /**
       * @description Name of the user group.
       * @example Example customer
       */
      name: string
      /**
       * @description Schema to data source, as it was sent; null where there is none.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping: {
        [key: string]: string
      } | null
      /**
       * @description The properties, as they were sent; null where there are none.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties: {
        [key: string]: unknown
      } | null
      /**
       * @description Goes up with each change of the user group, its token included. The ETag is made of it.
       * @example 4
       */
      revision: number
      /**
       * Format: date-time
       * @description When it was created (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      created_at: string
      /**
       * Format: date-time
       * @description When name, mapping or properties were set last (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      updated_at: string
      /**
       * @description Whose call it was: `api_token:` and the id of the API token, or `cli:` and the name of the operator; null where it was not kept yet.
       * @example api_token:3
       */
      updated_by: string | null
      /**
       * Format: date-time
       * @description When its token was made (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      token_issued_at: string
      /**
       * @description Since when its token is inactive for the renderer (RFC 3339, UTC); null where it is not so.
       * @example null
       */
      suspended_at: string | null
    }
    NewApiTokenResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      api_token: components['schemas']['ApiToken']
      /**
       * @description Is shown this once.
       * @example uga_customer_…
       */
      token: string
    }
    NewWorkspaceResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      workspace: {
        /**
         * @description Its id.
         * @example 213
         */
        id: number
        /** @example default */
        name: string
        /**
         * Format: date-time
         * @description When it was made (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }
      api_token: components['schemas']['ApiToken']
      /**
       * @description An API token with the scope `admin` in the new workspace; it is shown this once.
       * @example uga_customer_…
       */
      token: string
    }
    PromotionBody: {
      /**
       * @description The ids of the user groups to promote.
       * @example [
       *       "customer-42"
       *     ]
       */
      user_group_ids: string[]
      /**
       * @description Changes nothing.
       * @default false
       * @example true
       */
      dry_run?: boolean
    }
    PromotionResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      results: {
        /**
         * @description The user_group_id that was sent.
         * @example customer-42
         */
        provided_id: string
        /**
         * @description What became of it, or in a dry run would.
         * @enum {unknown}
         */
        outcome: 'created' | 'updated' | 'unchanged' | 'not_found' | 'refused'
        differences: {
          /**
           * @description A JSON Pointer (RFC 6901).
           * @example /properties/plan
           */
          path: string
          /**
           * @description Left out where there was nothing.
           * @example gold
           */
          before?: unknown
          /**
           * @description Left out where there is nothing.
           * @example silver
           */
          after?: unknown
        }[]
        /**
         * @description Of the user group in `Customer`; null where there is none, or none yet.
         * @example 7
         */
        team_id: number | null
        /**
         * @description Why it was refused.
         * @example null
         */
        message: string | null
      }[]
    }
    RotateBody: {
      /**
       * @description For how long the old token stays valid for viewing.
       * @default 0
       * @example 3600
       */
      grace_period_seconds?: number
    }
    SchemaBody: {
      /**
       * @description Your id of it.
       * @example sales
       */
      provided_id: string & (unknown & unknown)
      /**
       * @description Its name.
       * @example Sales
       */
      name: string & (unknown & unknown)
    }
    SchemaListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      schemas: {
        /**
         * @description Its id.
         * @example 213
         */
        id: number
        /**
         * @description Your id of it.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description When it was registered (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }[]
    }
    SchemaResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      schema: {
        /**
         * @description Its id.
         * @example 213
         */
        id: number
        /**
         * @description Your id of it.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description When it was registered (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }
    }
    TokenResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      /**
       * @description The user group token to store, and to render embedded dashboards with.
       * @example ugt_customer_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy
       */
      token: string
    }
    UserGroupListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      user_groups: components['schemas']['ManagedUserGroup'][]
      /**
       * @description What to send as `cursor` for the next page; null where there is none. A page may have fewer entries than asked for, and none, and the next one more.
       * @example null
       */
      next_cursor: string | null
    }
    UserGroupPatch: {
      /**
       * @description Name of the user group. Stays as it is where it is left out.
       * @example Example customer
       */
      name?: string & (unknown & unknown)
      /**
       * @description Schema id to data source: the id of a data source, or the id that you gave it when you created it. Replaced whole; null or {} clears it; stays as it is where it is left out.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and in SQL. At most 64 KiB as JSON, at most 32 levels deep, no U+0000. Replaced whole; null clears it; stays as it is where it is left out.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties?: {
        [key: string]: unknown
      } | null
    }
    UserGroupResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      user_group: components['schemas']['ManagedUserGroup']
    }
    VersionListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      versions: {
        /**
         * @description The last revision at which the user group was so.
         * @example 3
         */
        revision: number
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description Schema to data source, as it was sent; null where there is none.
         * @example {
         *       "40": "213"
         *     }
         */
        mapping: {
          [key: string]: string
        } | null
        /**
         * @description The properties, as they were sent; null where there are none.
         * @example {
         *       "region": "EU",
         *       "plan": "gold"
         *     }
         */
        properties: {
          [key: string]: unknown
        } | null
        /**
         * Format: date-time
         * @description When it was made so (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        updated_at: string
        /**
         * @description Whose call it was: `api_token:` and the id of the API token, or `cli:` and the name of the operator; null where it was not kept yet.
         * @example api_token:3
         */
        updated_by: string | null
      }[]
    }
    ViewResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      user_group: components['schemas']['ManagedUserGroup']
      /** @description What dashboards and SQL have as `user_group.…`, as the renderer gets it. */
      variables: {
        /**
         * @description The user_group_id that was sent.
         * @example customer-42
         */
        provided_id: string
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description The properties, as they were sent; null where there are none.
         * @example {
         *       "region": "EU",
         *       "plan": "gold"
         *     }
         */
        properties: {
          [key: string]: unknown
        } | null
      }
      data_sources: {
        /**
         * @description The key of the mapping.
         * @example 40
         */
        schema: string
        /**
         * @description Its value.
         * @example 213
         */
        data_source: string
        /** @description Whether the key names a registered schema. */
        has_schema: boolean
        /** @description The data source that the entry names; null where it names none that is registered. */
        registered: {
          /**
           * @description Its id.
           * @example 213
           */
          id: number
          /** @example warehouse-eu */
          provided_id: string
          /** @example Warehouse EU */
          name: string
        } | null
      }[]
      token: {
        /** @description Whether the renderer takes the current token. */
        active: boolean
        /**
         * Format: date-time
         * @description When it was made (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        issued_at: string
      }
      /**
       * @description When a renderer last asked about it, to the minute (RFC 3339, UTC); null where it is not so.
       * @example null
       */
      last_introspected_at: string | null
      /** @description What it was before its last changes, the newest first. */
      versions: {
        /**
         * @description The last revision at which the user group was so.
         * @example 3
         */
        revision: number
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description Schema to data source, as it was sent; null where there is none.
         * @example {
         *       "40": "213"
         *     }
         */
        mapping: {
          [key: string]: string
        } | null
        /**
         * @description The properties, as they were sent; null where there are none.
         * @example {
         *       "region": "EU",
         *       "plan": "gold"
         *     }
         */
        properties: {
          [key: string]: unknown
        } | null
        /**
         * Format: date-time
         * @description When it was made so (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        updated_at: string
        /**
         * @description Whose call it was: `api_token:` and the id of the API token, or `cli:` and the name of the operator; null where it was not kept yet.
         * @example api_token:3
         */
        updated_by: string | null
      }[]
    }
    WorkspaceBody: {
      /**
       * @description Its name.
       * @example second-product
       */
      name: string & (unknown & unknown)
    }
    WorkspaceListResponse: {
      /**
       * @description 1: the call succeeded.
       * @constant
       */
      success: 1
      workspaces: {
        /**
         * @description Its id.
         * @example 213
         */
        id: number
        /** @example default */
        name: string
        /**
         * Format: date-time
         * @description When it was made (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }[]
    }
    ErrorResponse: {
      /**
       * @description 0: the call did not succeed.
       * @constant
       */
      success: 0
      error: {
        /**
         * @description Stable: for programs.
         * @example validation_failed
         * @enum {unknown}
         */
        code:
          | 'malformed_request'
          | 'malformed_json'
          | 'body_required'
          | 'validation_failed'
          | 'name_required'
          | 'invalid_method_override'
          | 'invalid_idempotency_key'
          | 'unauthenticated'
          | 'forbidden'
          | 'user_group_not_found'
          | 'token_not_found'
          | 'not_found'
          | 'method_not_allowed'
          | 'request_timeout'
          | 'token_superseded'
          | 'idempotency_key_in_use'
          | 'already_exists'
          | 'in_use'
          | 'revision_mismatch'
          | 'body_too_large'
          | 'unsupported_media_type'
          | 'idempotency_key_reused'
          | 'rate_limited'
          | 'headers_too_large'
          | 'internal'
          | 'not_implemented'
          | 'unavailable'
        /**
         * @description For a person; may change.
         * @example name: must be a string
         */
        message: string
        /**
         * @description Finds the request in the log of the service.
         * @example k3Jf81Qz-2s
         */
        request_id: string
        /** @description Only where fields are at fault. */
        fields?: {
          /**
           * @description A JSON Pointer (RFC 6901) into the body.
           * @example /name
           */
          path: string
          /** @example must be a string */
          message: string
        }[]
      }
    }
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: {
    /** @description Finds the request in the log of the service. */
    RequestId: string
    /**
     * @description The state of the user group, to be sent as If-Match.
     * @example "1.4"
     */
    ETag: string
  }
  pathItems: never
}
