/** Path under which a proxy publishes the service, empty by default. This script is two folders deeper. */
export const publicPath = new URL(import.meta.url).pathname.replace(/\/(?:console|docs)\/[^/]+\/[^/]+$/, '')
