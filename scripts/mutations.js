/**
 * @typedef {object} Mutation
 * @property {string} file path of a source, relative to the repository
 * @property {string} from text that occurs once in it
 * @property {string} to its replacement, which is a fault
 */

/** Faults by the folder of the source: [file, text, faulty text]. @type {Record<string, [file: string, from: string, to: string][]>} */
const faults = {
  'server/src/domain': [
    ['event/event-feed.ts', 'event.environment === sink.environment &&', ''],
    ['event/event-feed.ts', 'event.workspaceId === sink.workspaceId &&', ''],
    [
      'event/event-feed.ts',
      'comparePositions(event.position, cursor) > 0)',
      'comparePositions(event.position, cursor) >= 0)',
    ],
    ['event/event-feed.ts', 'if (!isContinuous) sink.reset(position)', ''],
    ['event/event-feed.ts', 'if (isReset) this.#call', 'if (!isReset) this.#call'],
    ['event/event-feed.ts', 'subscriber.isFull = true', 'subscriber.isFull = false'],
    ['event/event-feed.ts', 'now - subscriber.lastHeartbeatAt < heartbeatMs', 'true'],
    ['console-session/console-sessions.ts', 'now < lastUsedAt + sessionIdleMs && ', ''],
    ['console-session/console-sessions.ts', ' && now < expiryOf(principal, createdAt)', ''],
    [
      'console-session/console-sessions.ts',
      'isRecent && (isPerson(principal) || isUsable(principal, now))',
      'isRecent',
    ],
    ['console-session/console-sessions.ts', 'if (!hasManagementScope(apiToken))', 'if (false)'],
    ['console-session/console-sessions.ts', 'now >= link.expiresAt || ', ''],
    [
      'console-session/console-sessions.ts',
      'previous.filter((one) => one.environment === environment)',
      'previous',
    ],
    ['console-session/console-sessions.ts', 'if (now >= lastUsedAt + touchEveryMs)', 'if (now < lastUsedAt)'],
    ['webhook/webhook-signature.ts', 'expiresAt === null || expiresAt > message.now', 'true'],
    ['webhook/webhook-dispatcher.ts', "target.state === 'active' && ", ''],
    ['webhook/webhook-dispatcher.ts', 'if (this.#inFlight.has(queue) || !this', 'if (!this'],
    ['webhook/webhook-dispatcher.ts', 'if (isInterrupted) return', ''],
    ['webhook/webhook-dispatcher.ts', 'if (clock.monotonic() < claimEndsAt) await', 'await'],
    ['webhook/webhook-dispatcher.ts', '.sort((a, b) => a.turn - b.turn)', ''],
    ['webhook/webhook-signature.ts', '`${id}.${timestamp}.${body}`', '`${timestamp}.${body}`'],
    ['webhook/webhook-endpoint.ts', 'environment === event.environment &&', ''],
    [
      'webhook/webhook-address.ts',
      "if (version === 0 || address.includes('%')) return false",
      'if (version === 0) return false',
    ],
    ['webhook/webhook-address.ts', 'if (metadataServices.check(address, family)) return false', ''],
    ['webhook/retry-schedule.ts', 'if (now >= end) return null', 'if (now > end) return null'],
    ['user-group/decisions.ts', 'if (target.isSuperseded) return', 'if (false) return'],
    ['user-group/decisions.ts', 'record.expiresAt > now', 'record.expiresAt >= now'],
    [
      'user-group/decisions.ts',
      'validUntil === null || now < validUntil',
      'validUntil === null || now <= validUntil',
    ],
    ['user-group/decisions.ts', 'return !isSuspended(userGroup) && (validUntil', 'return (validUntil'],
    ['user-group/decisions.ts', 'deleted.deletedAt <= deletedAfter', 'deleted.deletedAt < deletedAfter'],
    ['user-group/decisions.ts', 'if (changesNothing(current, change)) return', 'if (false) return'],
    ['user-group/decisions.ts', 'expected.revision === undefined || expected.revision === revision', 'true'],
    [
      'user-group/user-group.ts',
      '`user_group_token/${workspaceId}/${environment}/${providedId}`',
      '`user_group_token/${workspaceId}/${providedId}`',
    ],
    ['user-group/locator.ts', 'block.readUIntBE(10, 6) === 0 && ', ''],
    [
      'token/token.ts',
      'base62Pattern.test(body) && text.endsWith(checksum(unchecked))',
      'base62Pattern.test(body)',
    ],
    ['token/token.ts', 'byte < 248 && ', ''],
    ['secret-key/keyring.ts', 'cipher.setAAD(Buffer.from(context))\n    const sealed', 'const sealed'],
    ['api-token/api-token.ts', 'now < token.expiresAt', 'now <= token.expiresAt'],
    ['api-token/api-token.ts', 'token.revokedAt === null && ', ''],
    ['api-token/rate-limiter.ts', 'bucket.unreported += unreported', ''],
    ['data-source/data-source.ts', 'counts.get(entry.schema.id) !== 1', 'counts.get(entry.schema.id) === 0'],
    ['data-source/data-source.ts', 'schemas.find(({ providedId }) => providedId === key) ?? ', ''],
  ],
  'server/src/contract': [
    ['user/bodies.ts', '[current_token, grace_period_seconds]', '[current_token]'],
    ['user/bodies.ts', 'grace_period_seconds ?? 0', 'grace_period_seconds ?? 60'],
    ['user/change.ts', 'if (depth > limits.propertiesDepth)', 'if (depth >= limits.propertiesDepth)'],
    ['user/change.ts', 'value === null || Object.keys(value).length === 0', 'value === null'],
    ['user/responses.ts', 'Math.floor(ms / 1000)', 'Math.round(ms / 1000)'],
  ],
  'server/src/http': [
    [
      'user/response-cache.ts',
      'if (await this.#store.userGroups.isUnchanged(workspaceId, environment, cached.state)) return',
      'return',
    ],
    ['user/response-cache.ts', '${operation}/${workspaceId}/${environment}/', '${operation}/${environment}/'],
    ['user/response-cache.ts', 'if (cacheUntil > 0 && state', 'if (state'],
    ['user/response-cache.ts', 'hasRoom(this.#responses) || ', ''],
    ['authentication.ts', 'clock.monotonic() < cached.until', 'true'],
    ['authentication.ts', 'revokedIds.has(apiToken.id) || ', ''],
    ['authentication.ts', 'if (authorization.length <= maxHeaderLength) this', 'this'],
    ['authentication.ts', "replaceAll(/\\s/g, '?')", 'trim()'],
    ['operations.ts', "rotate: ['write']", "rotate: ['read', 'write']"],
    ['operations.ts', 'managementScopes.slice(weakest)', 'managementScopes'],
    ['request-body.ts', 'if (lengthOf(request) > bodyLimit) throw', 'if (false) throw'],
    ['request-body.ts', 'if (length > bodyLimit) refuse', 'if (false) refuse'],
    ['request-body.ts', 'if (length === 0) refuse', 'if (false) refuse'],
    ['request-body.ts', '} finally {\n    permit.release()', '} finally {'],
    ['request-body.ts', "if (encoding.toLowerCase() !== 'identity')", 'if (false)'],
    ['client-address.ts', 'forwarded.pop()?.trim()', 'forwarded.shift()?.trim()'],
    ['authentication-throttle.ts', 'if (retryInMs <= 1)', 'if (retryInMs <= minuteMs)'],
    ['oauth/introspections.ts', 'owner.validUntil === null ? Infinity : 0', 'Infinity'],
    ['oauth/oauth-clients.ts', "form.delete('client_secret')", ''],
    ['console/console-session.ts', "session !== undefined && request.method !== 'GET'", 'false'],
    ['console/console-session.ts', 'HttpOnly; ', ''],
    ['admin/etag.ts', 'Number(team) === teamId ?', 'true ?'],
    ['admin/pages.ts', 'items.length === limit ?', 'items.length > limit ?'],
  ],
  'server/src/store': [
    ['sqlite/events.ts', 'if (position + 1 < first) return null', ''],
    [
      'sqlite/user-group-tokens.ts',
      'superseded === undefined ? null : { row, superseded }',
      '{ row, superseded: superseded ?? null }',
    ],
    [
      'sqlite/user-groups.ts',
      'if (idempotency !== undefined) this',
      'if (idempotency === undefined) return\n    this',
    ],
    ['sqlite/user-groups.ts', 'this.#mappings.changeEntries(key, deleted.teamId, entries)', ''],
    [
      'sqlite/user-groups.ts',
      "this.#audit.append(event.action, command, { ...event, userGroup })\n    return { outcome: 'restored'",
      "return { outcome: 'restored'",
    ],
    ['sqlite/user-groups.ts', 'this.#tokens.deleteAll(deleted)', ''],
    [
      'sqlite/group-commit.ts',
      'return batch.flatMap((pending) => this.#runTogether([pending]))',
      'return batch.map(() => ({ error }))',
    ],
    [
      'postgres/events.ts',
      'if (first === undefined || first.is_lost) return null',
      'if (first === undefined) return null',
    ],
    ['postgres/events.ts', 'AND transaction_id < ${oldestRunning}\n     ORDER', 'ORDER'],
    ['postgres/user-groups.ts', 'row === null || row.team_id !== teamId', 'row === null'],
    [
      'postgres/user-groups.ts',
      'const isOurs = row !== null && attempt.isAmbiguous &&',
      'const isOurs = row !== null &&',
    ],
    ['postgres/user-groups.ts', 'ownTeamIds.add(issued.teamId)', ''],
    [
      'postgres/user-group-statements.ts',
      'changes.map(({ from }) => from.revision),',
      'changes.map(({ to }) => to.revision),',
    ],
    [
      'postgres/user-group-statements.ts',
      'byPosition(items, await query(sql.selectChanged, values)).map((row) => row === null)',
      'byPosition(items, await query(sql.selectChanged, values)).map(() => true)',
    ],
    ['cold/introspections.ts', 'WHERE last_introspection.introspected_at < excluded.introspected_at', ''],
    [
      'postgres/coalescer.ts',
      'if (batch.some(({ attempt }) => attempt.isOver)) throw new DeadlinePassed()',
      '',
    ],
    ['postgres/coalescer.ts', 'if (batch.length > 1 && mayRunAgain) await this', 'if (false) await this'],
    [
      'postgres/primary-fence.ts',
      'if (this.#events.push(event) > this.#maxEvents)',
      'if (this.#events.push(event) > 0)',
    ],
  ],
}

/** @type {readonly Mutation[]} */
export const mutations = Object.entries(faults).flatMap(([folder, ofFolder]) =>
  ofFolder.map(([file, from, to]) => ({ file: `${folder}/${file}`, from, to })),
)
