// Runs the service from its sources, with a restart on each change, and the console's development server: `npm run dev`.
// Settings are environment variables, as for `npm start`.
import { spawn } from 'node:child_process'

const port = process.env.PORT ?? '8080'
const children = [
  start(['--watch', '--import', 'tsx', 'server/src/main.ts', 'serve'], { PORT: port }),
  start(['../node_modules/vite/bin/vite.js'], { UGS_URL: `http://127.0.0.1:${port}` }, 'console'),
]
for (const child of children) child.once('exit', stop)
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, stop)

/**
 * @param {string[]} args
 * @param {Record<string, string>} environment
 * @param {string} [folder]
 */
function start(args, environment, folder = '.') {
  return spawn(process.execPath, args, {
    cwd: new URL(`../${folder}/`, import.meta.url),
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  })
}

function stop() {
  for (const child of children) child.kill()
}
