// Names the GitHub repository and the commit in what a release publishes: `node scripts/set-repository.js OWNER/NAME COMMIT`.
import { readFileSync, writeFileSync } from 'node:fs'

const [repository = '', commit = ''] = process.argv.slice(2)
if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || !/^[0-9a-f]{40}$/.test(commit)) {
  console.error('use: node scripts/set-repository.js OWNER/NAME COMMIT')
  process.exit(2)
}
const home = `https://github.com/${repository}`
const files = `${home}/blob/${commit}/`

const edit = (/** @type {string} */ path, /** @type {(text: string) => string} */ change) =>
  writeFileSync(path, change(readFileSync(path, 'utf8')))

const npmPackages = ['server', 'client', 'renderer', 'isolation']
for (const directory of npmPackages)
  edit(`${directory}/package.json`, (text) => {
    const manifest = /** @type {object} */ (JSON.parse(text))
    // npm refuses provenance without it.
    const url = `git+${home}.git`
    return `${JSON.stringify({ ...manifest, repository: { type: 'git', url, directory } }, null, 2)}\n`
  })
for (const folder of [...npmPackages, 'clients/python', 'clients/go', 'clients/java'])
  edit(`${folder}/README.md`, (text) =>
    text.replaceAll(/(?<=\]\()(?!\w+:|#)[^)]+/g, (path) => new URL(path, `${files}${folder}/`).href),
  )
edit('README.md', (text) => text.replace('https://github.com/OWNER/NAME', home))
const chart = 'deploy/helm/user-group-service'
edit(`${chart}/Chart.yaml`, (text) => `${text}annotations:\n  org.opencontainers.image.revision: ${commit}\n`)
edit(`${chart}/values.yaml`, (text) => text.replace("repository: ''", `repository: ghcr.io/${repository}`))
edit('deploy/prometheus/alerts.yml', (text) => text.replaceAll('runbook: ', `runbook_url: ${files}`))
