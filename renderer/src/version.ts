/** Version of this package. */
const version = '1.0.0-rc.1'

/** Names the package to services and proxies. */
export const userAgent = `user-group-service-renderer/${version}`
