import type { LeakedToken } from '../../api/wire.ts'

export type Leaked = LeakedToken

export interface Assessment {
  readonly works: boolean
  readonly title: string
  readonly text: string
  /** True if stopping the token has an effect. */
  readonly canBeStopped: boolean
}

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/**
 * Returns what the result means for the finder of the token.
 * @param isStopped true if the token was stopped just now
 */
export function assess(leaked: Leaked, isStopped: boolean, now = Date.now()): Assessment {
  if (leaked.kind === 'viewer_session') return assessSession(leaked, isStopped)
  return leaked.kind === 'api_token'
    ? assessApiToken(leaked, isStopped)
    : assessUserGroupToken(leaked, isStopped, now)
}

function assessSession(
  { works, viewer_id: viewerId, expires_at: expiresAt }: Leaked,
  isStopped: boolean,
): Assessment {
  if (isStopped)
    return {
      works: false,
      title: 'It is stopped',
      text: `All sessions of ${viewerId} are over. Your backend can create new ones.`,
      canBeStopped: false,
    }
  return {
    works,
    title: works ? 'It works' : 'It does not work',
    text: works
      ? `Its holder sees what ${viewerId} sees, until ${format.format(Date.parse(expiresAt ?? ''))}.`
      : 'It has expired, was ended, or its user group is suspended.',
    canBeStopped: works,
  }
}

function assessApiToken({ works, api_token: apiToken }: Leaked, isStopped: boolean): Assessment {
  if (isStopped) {
    return {
      works: false,
      title: 'It is revoked',
      text: 'It stops within a second or so. Programs that used it need another API token.',
      canBeStopped: false,
    }
  }
  if (works) {
    return {
      works,
      title: 'It works',
      text: 'Its holder can use the service with its scopes. An API token must not appear anywhere outside your backend.',
      canBeStopped: true,
    }
  }
  return {
    works,
    title: 'It does not work',
    text:
      apiToken?.revoked_at === null
        ? 'It has expired. There is nothing to do.'
        : 'It was revoked already. There is nothing to do.',
    canBeStopped: false,
  }
}

function assessUserGroupToken(
  { works, user_group: userGroup, valid_until: validUntil, rotated }: Leaked,
  isStopped: boolean,
  now: number,
): Assessment {
  if (isStopped) {
    return {
      works: false,
      title: 'It is stopped',
      text:
        rotated === true
          ? 'The user group has another token. Its backend gets it with the next request, and open dashboards must be reloaded.'
          : 'It was already replaced, and its grace period is over now. The current token still works.',
      canBeStopped: false,
    }
  }
  const end = typeof validUntil === 'string' ? Date.parse(validUntil) : undefined
  if (end !== undefined && end <= now) {
    return {
      works: false,
      title: 'It does not work',
      text: `It was replaced, and stopped on ${format.format(end)}. There is nothing to do.`,
      canBeStopped: false,
    }
  }
  if (!works && userGroup !== undefined && userGroup.suspended_at !== null) {
    return {
      works,
      title: 'It does not work now',
      text: 'The user group is suspended. When it is resumed, this token works again, unless you stop it.',
      canBeStopped: true,
    }
  }
  return {
    works,
    title: 'It works',
    text:
      end === undefined
        ? 'It is the current token. Its holder sees the data of this customer.'
        : `It was replaced, but its holder sees the data of this customer until ${format.format(end)}.`,
    canBeStopped: true,
  }
}
