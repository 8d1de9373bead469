#!/usr/bin/env node
// `npx user-group-service` starts the service, with the options of `ugs serve`. `npx user-group-service COMMAND` is `ugs COMMAND`:
// without an installation, `npx ugs` would run the package of that name.
const [first] = process.argv.slice(2)
if (first === undefined || first.startsWith('-')) process.argv.splice(2, 0, 'serve')
void import('./ugs.js')
