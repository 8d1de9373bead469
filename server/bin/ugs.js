#!/usr/bin/env node
// Every Node.js can parse this file and `serve.js`, so that an old one gets a sentence instead of a syntax error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error('ugs: needs Node.js 20.19 or newer, but this is ' + process.versions.node)
  process.exitCode = 1
} else {
  void import('./run.js')
}
