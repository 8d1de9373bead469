#!/usr/bin/env node
// `npx user-group-service` starts the service. Options are those of `ugs serve`.
process.argv.splice(2, 0, 'serve')
await import('./ugs.js')
