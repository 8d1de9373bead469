// Generated from the OpenAPI document by client/scripts/generate-types.js. Do not edit.

export interface components {
  schemas: {
    UserGroupBody: {
      /**
       * Format: visible
       * @description Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least one character must be visible.
       * @example customer-42
       */
      user_group_id: string
      /**
       * Format: visible
       * @description Name of the user group. Unchanged if omitted. At least one character must be visible.
       * @example Example customer
       */
      name?: string
      /**
       * @description Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without U+0000. Replaced as a whole; null clears it; unchanged if omitted.
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
       * @description The current token of the user group.
       * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
       */
      current_token: string
      /**
       * @description Time for which the old token stays valid for viewing, in seconds. It cannot be rotated again. Default: 0.
       * @example 3600
       */
      grace_period_seconds?: number
    }
    GetOrCreateResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      /**
       * @description True if this request created the user group.
       * @example false
       */
      new_user_group: boolean
      user_group: {
        /**
         * @description Internal id of the user group. You do not need to store it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user group token. Store it and use it to render embedded dashboards.
         * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
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
         * @description The properties as sent; null if there are none.
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
       * @description 1: the request succeeded.
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
         * @description Internal id of the user group. You do not need to store it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user group token. Store it and use it to render embedded dashboards.
         * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
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
         * @description The properties as sent; null if there are none.
         * @example {
         *       "region": "EU",
         *       "plan": "gold"
         *     }
         */
        properties: {
          [key: string]: unknown
        } | null
        /**
         * @description The environment of the user group, which is that of the API token that created it.
         * @example Customer
         * @enum {string}
         */
        api_environment_tag: 'Customer' | 'Testing'
      }
    }
    RotationResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      user_group: {
        /**
         * @description Internal id of the user group. You do not need to store it.
         * @example 1
         */
        team_id: number
        /**
         * @description The user group token. Store it and use it to render embedded dashboards.
         * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
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
         * @description The environment of the user group, which is that of the API token that created it.
         * @example Customer
         * @enum {string}
         */
        api_environment_tag: 'Customer' | 'Testing'
      }
    }
    IntrospectionBody: {
      /**
       * @description The user group token that a dashboard was opened with.
       * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
       */
      token: string
      /**
       * @description Ignored.
       * @example user_group
       */
      token_type_hint?: string
      /**
       * @description Ignored.
       * @example renderer
       */
      client_id?: string
      /** @description The API token, if the request has no Authorization header. */
      client_secret?: string
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
           * @description Time when the token was issued, in seconds since the Unix epoch.
           * @example 1790000000
           */
          iat: number
          /**
           * @description End of the grace period; only for a superseded token, in seconds since the Unix epoch.
           * @example 1790000600
           */
          exp?: number
          /**
           * @description Internal id of the user group. You do not need to store it.
           * @example 1
           */
          team_id: number
          /**
           * @description Name of the user group.
           * @example Example customer
           */
          name: string
          /**
           * @description The environment of the user group, which is that of the API token that created it.
           * @example Customer
           * @enum {string}
           */
          api_environment_tag: 'Customer' | 'Testing'
          /**
           * @description Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.
           * @example {
           *       "40": "213"
           *     }
           */
          mapping: {
            [key: string]: string
          } | null
          /** @description The registered data sources by mapping key, each with its schema, because a key may be the id or the provided id of a schema. Entries that name no registered schema and data source are missing. */
          data_sources: {
            [key: string]: {
              /** @example 213 */
              id: number
              /** @example warehouse-eu */
              provided_id: string
              /** @example Warehouse EU */
              name: string
              schema: {
                /** @example 12 */
                id: number
                /** @example 40 */
                provided_id: string
              }
            }
          }
          /**
           * @description The properties as sent; null if there are none.
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
           * @description The token is not valid for viewing, for any reason.
           * @constant
           */
          active: false
        }
    OAuthErrorResponse: {
      /**
       * @description A code of OAuth.
       * @example invalid_client
       * @enum {string}
       */
      error:
        | 'invalid_request'
        | 'invalid_client'
        | 'insufficient_scope'
        | 'temporarily_unavailable'
        | 'server_error'
      /**
       * @description A text for people. It may change.
       * @example token: is required
       */
      error_description: string
      /**
       * @description The id of the request in the log of the service.
       * @example k3Jf81Qz-2s
       */
      request_id: string
    }
    Event: {
      /** @enum {string} */
      type:
        | 'user_group.created'
        | 'user_group.updated'
        | 'user_group.token_rotated'
        | 'user_group.grace_period_ended'
        | 'user_group.suspended'
        | 'user_group.resumed'
        | 'user_group.deleted'
        | 'user_group.restored'
        | 'schema.created'
        | 'schema.deleted'
        | 'data_source.created'
        | 'data_source.deleted'
        | 'api_token.revoked'
      /** Format: date-time */
      timestamp: string
      data: {
        /** @description The user group. Absent if the whole environment is concerned. */
        team_id?: number
        provided_id?: string
        /** @description Revision of the user group after the change. */
        revision?: number
        /** @description SHA-256 of the tokens whose meaning changed. Absent if all tokens of the user group are concerned. */
        token_sha256?: string[]
      }
    }
    DeletedResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      /** @constant */
      deleted: true
    }
    DeletedUserGroupListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      user_groups: {
        /**
         * @description Internal id of the user group. You do not need to store it.
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
         * @description Time of the deletion (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        deleted_at: string
        /**
         * @description Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`. Null for changes older than the audit log.
         * @example api_token:3
         */
        deleted_by: string | null
      }[]
      /**
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    DiffResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      /**
       * @description Changed values. `before` is absent if the value was added, `after` if it was removed.
       * @example [
       *       {
       *         "path": "/properties/plan",
       *         "before": "gold",
       *         "after": "silver"
       *       }
       *     ]
       */
      differences: {
        /**
         * @description JSON Pointer (RFC 6901).
         * @example /properties/plan
         */
        path: string
        before?: unknown
        after?: unknown
      }[]
    }
    ListedUserGroup: {
      /**
       * @description Internal id of the user group. You do not need to store it.
       * @example 1
       */
      team_id: number
      /**
       * @description The user_group_id that was sent.
       * @example customer-42
       */
      provided_id: string
      /**
       * @description The environment of the user group, which is that of the API token that created it.
       * @example Customer
       * @enum {string}
       */
      api_environment_tag: 'Customer' | 'Testing'
      /**
       * @description Name of the user group.
       * @example Example customer
       */
      name: string
      /**
       * @description Schema keys and data source keys, as they were sent; null if there are none.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping: {
        [key: string]: string
      } | null
      /**
       * @description The properties as sent; null if there are none.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties: {
        [key: string]: unknown
      } | null
      /**
       * @description Increases with every change of the user group and with every rotation. Part of the ETag.
       * @example 4
       */
      revision: number
      /**
       * Format: date-time
       * @description Time of creation (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      created_at: string
      /**
       * Format: date-time
       * @description Time of the last change of name, mapping or properties (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      updated_at: string
      /**
       * @description Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`. Null for changes older than the audit log.
       * @example api_token:3
       */
      updated_by: string | null
      /**
       * Format: date-time
       * @description Time at which its token was issued (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      token_issued_at: string
      /**
       * @description Time since which its token is inactive for the renderer (RFC 3339, UTC), or null.
       * @example null
       */
      suspended_at: string | null
      health: {
        /**
         * @description Number of mapping entries.
         * @example 2
         */
        mapping_entries: number
        /**
         * @description Number of mapping entries that name no registered data source; 0 if no schema is registered.
         * @example 1
         */
        unresolved_entries: number
        /**
         * @description Time of the last introspection, to the minute (RFC 3339, UTC), or null.
         * @example null
         */
        last_introspected_at: string | null
      }
    }
    ManagedUserGroup: {
      /**
       * @description Internal id of the user group. You do not need to store it.
       * @example 1
       */
      team_id: number
      /**
       * @description The user_group_id that was sent.
       * @example customer-42
       */
      provided_id: string
      /**
       * @description The environment of the user group, which is that of the API token that created it.
       * @example Customer
       * @enum {string}
       */
      api_environment_tag: 'Customer' | 'Testing'
      /**
       * @description Name of the user group.
       * @example Example customer
       */
      name: string
      /**
       * @description Schema keys and data source keys, as they were sent; null if there are none.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping: {
        [key: string]: string
      } | null
      /**
       * @description The properties as sent; null if there are none.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties: {
        [key: string]: unknown
      } | null
      /**
       * @description Increases with every change of the user group and with every rotation. Part of the ETag.
       * @example 4
       */
      revision: number
      /**
       * Format: date-time
       * @description Time of creation (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      created_at: string
      /**
       * Format: date-time
       * @description Time of the last change of name, mapping or properties (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      updated_at: string
      /**
       * @description Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`. Null for changes older than the audit log.
       * @example api_token:3
       */
      updated_by: string | null
      /**
       * Format: date-time
       * @description Time at which its token was issued (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      token_issued_at: string
      /**
       * @description Time since which its token is inactive for the renderer (RFC 3339, UTC), or null.
       * @example null
       */
      suspended_at: string | null
    }
    NewUserGroup: {
      /**
       * Format: visible
       * @description Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least one character must be visible.
       * @example customer-42
       */
      user_group_id: string
      /**
       * Format: visible
       * @description Name of the user group. Unchanged if omitted. At least one character must be visible.
       * @example Example customer
       */
      name: string
      /**
       * @description Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without U+0000. Replaced as a whole; null clears it; unchanged if omitted.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties?: {
        [key: string]: unknown
      } | null
    }
    RotateBody: {
      /**
       * @description Number of seconds for which the old token stays valid for viewing. Default: 0.
       * @example 3600
       */
      grace_period_seconds?: number
    }
    TokenResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      /**
       * @description The user group token. Store it and use it to render embedded dashboards.
       * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
       */
      token: string
    }
    UserGroupListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      user_groups: components['schemas']['ListedUserGroup'][]
      /**
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    UserGroupPatch: {
      /**
       * Format: visible
       * @description Name of the user group. Unchanged if omitted. At least one character must be visible.
       * @example Example customer
       */
      name?: string
      /**
       * @description Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without U+0000. Replaced as a whole; null clears it; unchanged if omitted.
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
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      user_group: components['schemas']['ManagedUserGroup']
    }
    VersionListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      versions: {
        /**
         * @description The last revision at which the user group had this state.
         * @example 3
         */
        revision: number
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description Schema keys and data source keys, as they were sent; null if there are none.
         * @example {
         *       "40": "213"
         *     }
         */
        mapping: {
          [key: string]: string
        } | null
        /**
         * @description The properties as sent; null if there are none.
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
         * @description Time of the change that led to this state (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        updated_at: string
        /**
         * @description Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`. Null for changes older than the audit log.
         * @example api_token:3
         */
        updated_by: string | null
      }[]
    }
    ViewResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      user_group: components['schemas']['ManagedUserGroup']
      /** @description The variables `user_group.…` of dashboards and SQL, as the renderer gets them. */
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
         * @description The properties as sent; null if there are none.
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
         * @description Key of the mapping entry.
         * @example 40
         */
        schema: string
        /**
         * @description Value of the mapping entry.
         * @example 213
         */
        data_source: string
        /** @description Whether the key names a registered schema. */
        has_schema: boolean
        /** @description The registered data source that the entry names; null if there is none. */
        registered: {
          /**
           * @description Id of the data source.
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
        /** @description Whether the renderer accepts the current token. */
        active: boolean
        /**
         * Format: date-time
         * @description Time at which it was issued (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        issued_at: string
      }
      /**
       * @description Time of the last introspection, to the minute (RFC 3339, UTC), or null.
       * @example null
       */
      last_introspected_at: string | null
      /** @description Earlier states, the newest first. */
      versions: {
        /**
         * @description The last revision at which the user group had this state.
         * @example 3
         */
        revision: number
        /**
         * @description Name of the user group.
         * @example Example customer
         */
        name: string
        /**
         * @description Schema keys and data source keys, as they were sent; null if there are none.
         * @example {
         *       "40": "213"
         *     }
         */
        mapping: {
          [key: string]: string
        } | null
        /**
         * @description The properties as sent; null if there are none.
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
         * @description Time of the change that led to this state (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        updated_at: string
        /**
         * @description Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`. Null for changes older than the audit log.
         * @example api_token:3
         */
        updated_by: string | null
      }[]
    }
    ExportRow: {
      /**
       * @description The user_group_id that was sent.
       * @example customer-42
       */
      user_group_id: string
      /**
       * Format: visible
       * @description Name of the user group. Unchanged if omitted. At least one character must be visible.
       * @example Example customer
       */
      name: string
      /**
       * @description Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without U+0000. Replaced as a whole; null clears it; unchanged if omitted.
       * @example {
       *       "region": "EU",
       *       "plan": "gold"
       *     }
       */
      properties: {
        [key: string]: unknown
      } | null
    }
    /** @description Result of one row. The last line is the summary; a response without a summary was interrupted. */
    ImportLine:
      | {
          /**
           * @description Line on which the row starts.
           * @example 2
           */
          line: number
          /**
           * @description Null if the row has no readable id.
           * @example customer-42
           */
          user_group_id: string | null
          /**
           * @example created
           * @enum {string}
           */
          outcome: 'created' | 'updated' | 'unchanged' | 'refused'
          error?: {
            /**
             * @description A stable code for programs.
             * @example validation_failed
             * @enum {string}
             */
            code:
              | 'malformed_request'
              | 'malformed_json'
              | 'body_required'
              | 'validation_failed'
              | 'name_required'
              | 'invalid_method_override'
              | 'invalid_idempotency_key'
              | 'invalid_position'
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
             * @description A text for people. It may change.
             * @example name: must be a string
             */
            message: string
            /** @description The invalid fields, if any. */
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
             * @description Number of rows.
             * @example 1000
             */
            rows: number
            /**
             * @description Number of user groups created.
             * @example 990
             */
            created: number
            /**
             * @description Number of user groups changed.
             * @example 0
             */
            updated: number
            /**
             * @description Number of user groups that already matched their row.
             * @example 0
             */
            unchanged: number
            /**
             * @description Number of rows refused.
             * @example 10
             */
            refused: number
            /**
             * @description True if nothing was written.
             * @example false
             */
            dry_run: boolean
          }
        }
    ImportRow: {
      /**
       * Format: visible
       * @description Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least one character must be visible.
       * @example customer-42
       */
      user_group_id: string
      /**
       * Format: visible
       * @description Name of the user group. Unchanged if omitted. At least one character must be visible.
       * @example Example customer
       */
      name?: string
      /**
       * @description Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.
       * @example {
       *       "40": "213"
       *     }
       */
      mapping?: {
        [key: string]: string
      } | null
      /**
       * @description Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without U+0000. Replaced as a whole; null clears it; unchanged if omitted.
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
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      findings: {
        /**
         * @description `shared`: several user groups see the same data. `unresolved`: mapping entries that name no registered data source. `mapped_twice`: mapping entries that name a schema by its id, while the mapping also has the provided id of the schema.
         * @enum {string}
         */
        kind: 'shared' | 'unresolved' | 'mapped_twice'
        /** @example 40 */
        schema: string
        /** @example 213 */
        data_source: string
        registered: {
          /**
           * @description Id of the data source.
           * @example 213
           */
          id: number
          /** @example warehouse-eu */
          provided_id: string
          /** @example Warehouse EU */
          name: string
        } | null
        /** @description The first ten user groups. */
        user_groups: {
          /**
           * @description Internal id of the user group. You do not need to store it.
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
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    CandidateListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      user_groups: {
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
         * @description Time of the last change of name, mapping or properties (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        updated_at: string
      }[]
      /**
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    PromotionBody: {
      /**
       * @description Ids of the user groups to promote.
       * @example [
       *       "customer-42"
       *     ]
       */
      user_group_ids: string[]
      /**
       * @description If true, nothing is changed. Default: false.
       * @example true
       */
      dry_run?: boolean
    }
    PromotionResponse: {
      /**
       * @description 1: the request succeeded.
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
         * @description The result of the promotion, or in a dry run the expected result.
         * @enum {string}
         */
        outcome: 'created' | 'updated' | 'unchanged' | 'not_found' | 'refused'
        /**
         * @description Changed values. `before` is absent if the value was added, `after` if it was removed.
         * @example [
         *       {
         *         "path": "/properties/plan",
         *         "before": "gold",
         *         "after": "silver"
         *       }
         *     ]
         */
        differences: {
          /**
           * @description JSON Pointer (RFC 6901).
           * @example /properties/plan
           */
          path: string
          before?: unknown
          after?: unknown
        }[]
        /**
         * @description Team id of the user group in `Customer`; null if there is none (yet).
         * @example 7
         */
        team_id: number | null
        /**
         * @description Reason of a refusal, otherwise null.
         * @example null
         */
        message: string | null
      }[]
    }
    LeakedTokenBody: {
      /**
       * @description A user group token or an API token.
       * @example ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY
       */
      token: string
      /** @description If true, stops the token at once: rotates a current user group token, ends the grace period of a superseded one, or revokes an API token. Default: false. */
      rotate?: boolean
    }
    LeakedTokenResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      /**
       * @description `unknown`: not a token of this workspace and environment.
       * @enum {string}
       */
      kind: 'user_group_token' | 'api_token' | 'unknown'
      /** @description Whether the token was valid when the request arrived. */
      works: boolean
      user_group?: components['schemas']['ManagedUserGroup']
      /**
       * @description End of the grace period of a superseded token (RFC 3339, UTC), or null.
       * @example null
       */
      valid_until?: string | null
      /** @description Whether this request issued a new user group token. */
      rotated?: boolean
      api_token?: components['schemas']['ApiToken']
    }
    ApiToken: {
      /**
       * @description Id of the API token.
       * @example 213
       */
      id: number
      /** @example backend */
      name: string
      /**
       * @description The environment of the user group, which is that of the API token that created it.
       * @example Customer
       * @enum {string}
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
       * @description Time of creation (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      created_at: string
      /**
       * @description Time of expiry (RFC 3339, UTC), or null.
       * @example null
       */
      expires_at: string | null
      /**
       * @description Time of revocation (RFC 3339, UTC), or null.
       * @example null
       */
      revoked_at: string | null
      /**
       * @description Time of the last use, to the minute (RFC 3339, UTC), or null.
       * @example null
       */
      last_used_at: string | null
      /**
       * @description Id of the API token that a rotation replaced it with, or null.
       * @example null
       */
      replaced_by: number | null
      /**
       * @description Own rate limit: requests per second, a colon, and the burst. Null if the default of the service applies.
       * @example 500:2000
       */
      rate_limit: string | null
    }
    ApiTokenBody: {
      /**
       * Format: visible
       * @description Name that describes its purpose. At least one character must be visible.
       * @example backend
       */
      name: string
      /**
       * @description Permissions.
       * @example [
       *       "write"
       *     ]
       */
      scopes: ('read' | 'write' | 'introspect' | 'admin')[]
      /**
       * @description Lifetime in seconds. If absent, the API token never expires.
       * @example 7776000
       */
      expires_in_seconds?: number
    }
    ApiTokenListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      api_tokens: components['schemas']['ApiToken'][]
    }
    ApiTokenResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      api_token: components['schemas']['ApiToken']
    }
    ApiTokenRotationBody: {
      /**
       * @description Number of seconds for which the old API token keeps working: 0 to 2592000 (30 days). Default: 86400.
       * @example 86400
       */
      overlap_seconds?: number
    }
    ApiTokenRotationResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      api_token: components['schemas']['ApiToken']
      /**
       * @description Shown only once.
       * @example uga_customer_…
       */
      token: string
      replaces: components['schemas']['ApiToken']
    }
    NewApiTokenResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      api_token: components['schemas']['ApiToken']
      /**
       * @description Shown only once.
       * @example uga_customer_…
       */
      token: string
    }
    NewWorkspaceResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      workspace: {
        /**
         * @description Id of the workspace.
         * @example 213
         */
        id: number
        /** @example default */
        name: string
        /**
         * Format: date-time
         * @description Time of creation (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }
      api_token: components['schemas']['ApiToken']
      /**
       * @description An API token with the scope `admin` in the new workspace. Shown only once.
       * @example uga_customer_…
       */
      token: string
    }
    WorkspaceBody: {
      /**
       * Format: visible
       * @description Name of the workspace. At least one character must be visible.
       * @example second-product
       */
      name: string
    }
    WorkspaceListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      workspaces: {
        /**
         * @description Id of the workspace.
         * @example 213
         */
        id: number
        /** @example default */
        name: string
        /**
         * Format: date-time
         * @description Time of creation (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }[]
    }
    AuditEventListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      audit_events: {
        /**
         * @description A UUID version 7: ids sort by time.
         * @example 019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45
         */
        event_id: string
        /**
         * Format: date-time
         * @description Time of the change (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        occurred_at: string
        /**
         * @description Kind of change.
         * @enum {string}
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
          | 'webhook_endpoint.created'
          | 'webhook_endpoint.updated'
          | 'webhook_endpoint.secret_rotated'
          | 'webhook_endpoint.disabled'
          | 'webhook_endpoint.deleted'
          | 'console_session.created'
          | 'sign_in_link.created'
          | 'audit_log.pruned'
        /**
         * @description Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`.
         * @example api_token:3
         */
        author: string
        /**
         * @description `X-Request-Id` of the response; null for changes by the command line.
         * @example k3Jf81Qz-2s
         */
        request_id: string | null
        /** @description The changed user group, or null. */
        user_group: {
          /**
           * @description Team id of the user group.
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
         * @description Depends on the action: `changed_fields`, `grace_period_seconds`, the id of an API token, a schema or a data source, and so on. Never contains a secret.
         * @example {
         *       "changed_fields": [
         *         "mapping"
         *       ]
         *     }
         */
        details: Record<string, never> | null
      }[]
      /**
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    DataSourceBody: {
      /**
       * @description Id of the schema that the data source has.
       * @example 213
       */
      schema_id: number
      /**
       * Format: visible
       * @description Id that you assign. At least one character must be visible.
       * @example sales
       */
      provided_id: string
      /**
       * Format: visible
       * @description Name. At least one character must be visible.
       * @example Sales
       */
      name: string
    }
    DataSourceListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      data_sources: {
        /**
         * @description Id that the service assigned.
         * @example 213
         */
        id: number
        /**
         * @description Id that you assigned.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description Time of registration (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
        /**
         * @description Id of the schema that the data source has.
         * @example 213
         */
        schema_id: number
      }[]
      /**
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    DataSourceResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      data_source: {
        /**
         * @description Id that the service assigned.
         * @example 213
         */
        id: number
        /**
         * @description Id that you assigned.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description Time of registration (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
        /**
         * @description Id of the schema that the data source has.
         * @example 213
         */
        schema_id: number
      }
    }
    SchemaBody: {
      /**
       * Format: visible
       * @description Id that you assign. At least one character must be visible.
       * @example sales
       */
      provided_id: string
      /**
       * Format: visible
       * @description Name. At least one character must be visible.
       * @example Sales
       */
      name: string
    }
    SchemaListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      schemas: {
        /**
         * @description Id that the service assigned.
         * @example 213
         */
        id: number
        /**
         * @description Id that you assigned.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description Time of registration (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }[]
    }
    SchemaResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      schema: {
        /**
         * @description Id that the service assigned.
         * @example 213
         */
        id: number
        /**
         * @description Id that you assigned.
         * @example sales
         */
        provided_id: string
        /** @example Sales */
        name: string
        /**
         * Format: date-time
         * @description Time of registration (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        created_at: string
      }
    }
    WebhookDeliveryListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      deliveries: {
        /**
         * @description Id of the delivery.
         * @example 213
         */
        id: number
        /**
         * @description `webhook-id` of the request, the same for each attempt.
         * @example 019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45
         */
        event_id: string
        /** @enum {string} */
        event_type:
          | 'user_group.created'
          | 'user_group.updated'
          | 'user_group.token_rotated'
          | 'user_group.grace_period_ended'
          | 'user_group.suspended'
          | 'user_group.resumed'
          | 'user_group.deleted'
          | 'user_group.restored'
          | 'schema.created'
          | 'schema.deleted'
          | 'data_source.created'
          | 'data_source.deleted'
          | 'api_token.revoked'
        /**
         * Format: date-time
         * @description Time of the event (RFC 3339, UTC).
         * @example 2026-11-21T20:15:53.000Z
         */
        occurred_at: string
        /**
         * @description The user group, or null if the event concerns the whole environment.
         * @example 213
         */
        team_id: number | null
        /**
         * @description `pending` before the first attempt, `failing` after an attempt that failed.
         * @enum {string}
         */
        state: 'pending' | 'failing' | 'delivered'
        /** @example 1 */
        attempts: number
        /**
         * @description Time of the last attempt (RFC 3339, UTC), or null.
         * @example null
         */
        last_attempt_at: string | null
        /**
         * @description Time of the next attempt; null also while it waits for an earlier event (RFC 3339, UTC), or null.
         * @example null
         */
        next_attempt_at: string | null
        /**
         * @description HTTP status of the last response, or null.
         * @example 200
         */
        response_status: number | null
        /**
         * @description Duration of the last attempt in milliseconds, or null.
         * @example 35
         */
        duration_ms: number | null
        /**
         * @description Reason why the last attempt got no response, or null.
         * @example ECONNREFUSED
         */
        error_code: string | null
      }[]
      /**
       * @description Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.
       * @example null
       */
      next_cursor: string | null
    }
    WebhookEndpoint: {
      /**
       * @description Id of the webhook endpoint.
       * @example 213
       */
      id: number
      /** @example Renderer */
      name: string
      /**
       * @description An https URL at a public address, without user name, password and fragment. Settings of the service may allow others.
       * @example https://renderer.example.com/webhooks
       */
      url: string
      /**
       * @description Types of the events that it receives. Empty for all.
       * @example [
       *       "user_group.token_rotated",
       *       "user_group.suspended"
       *     ]
       */
      event_types: (
        | 'user_group.created'
        | 'user_group.updated'
        | 'user_group.token_rotated'
        | 'user_group.grace_period_ended'
        | 'user_group.suspended'
        | 'user_group.resumed'
        | 'user_group.deleted'
        | 'user_group.restored'
        | 'schema.created'
        | 'schema.deleted'
        | 'data_source.created'
        | 'data_source.deleted'
        | 'api_token.revoked'
      )[]
      /**
       * @description `disabled` by the service after 3 days without success. Events then wait as if paused.
       * @enum {string}
       */
      state: 'active' | 'paused' | 'disabled'
      /**
       * Format: date-time
       * @description Time of creation (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      created_at: string
      /**
       * Format: date-time
       * @description Time of the last change (RFC 3339, UTC).
       * @example 2026-11-21T20:15:53.000Z
       */
      updated_at: string
      /**
       * @description Time of the last attempt that succeeded (RFC 3339, UTC), or null.
       * @example null
       */
      last_success_at: string | null
      /**
       * @description Time of the first failed attempt after the last success (RFC 3339, UTC), or null.
       * @example null
       */
      failing_since: string | null
      /**
       * @description Events that wait for their first attempt.
       * @example 0
       */
      pending: number
      /**
       * @description Events whose last attempt failed.
       * @example 0
       */
      failing: number
      /**
       * @description Time of the oldest undelivered event (RFC 3339, UTC), or null.
       * @example null
       */
      oldest_event_at: string | null
    }
    WebhookEndpointBody: {
      /**
       * Format: visible
       * @description Name. At least one character must be visible.
       * @example Renderer
       */
      name: string
      /**
       * @description An https URL at a public address, without user name, password and fragment. Settings of the service may allow others.
       * @example https://renderer.example.com/webhooks
       */
      url: string
      /**
       * @description Types of the events that it receives. Empty for all.
       * @example [
       *       "user_group.token_rotated",
       *       "user_group.suspended"
       *     ]
       */
      event_types?: (
        | 'user_group.created'
        | 'user_group.updated'
        | 'user_group.token_rotated'
        | 'user_group.grace_period_ended'
        | 'user_group.suspended'
        | 'user_group.resumed'
        | 'user_group.deleted'
        | 'user_group.restored'
        | 'schema.created'
        | 'schema.deleted'
        | 'data_source.created'
        | 'data_source.deleted'
        | 'api_token.revoked'
      )[]
    }
    WebhookEndpointChangeBody: {
      /**
       * Format: visible
       * @description Name. At least one character must be visible.
       * @example Renderer
       */
      name?: string
      /**
       * @description An https URL at a public address, without user name, password and fragment. Settings of the service may allow others.
       * @example https://renderer.example.com/webhooks
       */
      url?: string
      /**
       * @description Types of the events that it receives. Empty for all.
       * @example [
       *       "user_group.token_rotated",
       *       "user_group.suspended"
       *     ]
       */
      event_types?: (
        | 'user_group.created'
        | 'user_group.updated'
        | 'user_group.token_rotated'
        | 'user_group.grace_period_ended'
        | 'user_group.suspended'
        | 'user_group.resumed'
        | 'user_group.deleted'
        | 'user_group.restored'
        | 'schema.created'
        | 'schema.deleted'
        | 'data_source.created'
        | 'data_source.deleted'
        | 'api_token.revoked'
      )[]
      /**
       * @description While paused, events wait, at most for the retention of events and 3 days.
       * @enum {string}
       */
      state?: 'active' | 'paused'
    }
    WebhookEndpointListResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      webhook_endpoints: components['schemas']['WebhookEndpoint'][]
    }
    WebhookEndpointResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      webhook_endpoint: components['schemas']['WebhookEndpoint']
    }
    WebhookEndpointSecretResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      webhook_endpoint: components['schemas']['WebhookEndpoint']
      /**
       * @description Verifies signatures (Standard Webhooks). Shown only once.
       * @example whsec_…
       */
      secret: string
    }
    WebhookRedeliveryBody: {
      /**
       * @description Events at or after this time (RFC 3339).
       * @example 2026-11-21T20:15:53Z
       */
      since: string
      /**
       * @description Events before this time (RFC 3339).
       * @example 2026-11-21T20:15:53Z
       */
      until?: string
    }
    WebhookRedeliveryResponse: {
      /**
       * @description 1: the request succeeded.
       * @constant
       */
      success: 1
      /**
       * @description Number of events that are sent again.
       * @example 12
       */
      redelivered: number
    }
    WebhookSecretRotationBody: {
      /**
       * @description Number of seconds for which the old secret signs too: 0 to 2592000 (30 days). Default: 86400.
       * @example 86400
       */
      overlap_seconds?: number
    }
    ErrorResponse: {
      /**
       * @description 0: the request failed.
       * @constant
       */
      success: 0
      error: {
        /**
         * @description A stable code for programs.
         * @example validation_failed
         * @enum {string}
         */
        code:
          | 'malformed_request'
          | 'malformed_json'
          | 'body_required'
          | 'validation_failed'
          | 'name_required'
          | 'invalid_method_override'
          | 'invalid_idempotency_key'
          | 'invalid_position'
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
         * @description A text for people. It may change.
         * @example name: must be a string
         */
        message: string
        /**
         * @description The id of the request in the log of the service.
         * @example k3Jf81Qz-2s
         */
        request_id: string
        /** @description The invalid fields, if any. */
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
    /** @description Identifies the request in the log of the service. */
    RequestId: string
    /**
     * @description A position in the events. The response includes all changes up to it.
     * @example k3jf81qz-1842
     */
    EventPosition: string
    /**
     * @description State of the user group. Send it as If-Match.
     * @example "1.4"
     */
    ETag: string
  }
  pathItems: never
}
