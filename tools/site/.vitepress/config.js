// The documentation site: the Markdown pages of this repository, at their own paths.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Pages of each section, in order. `docs/NAME.md` is written as `NAME`. */
const sections = {
  Guides: [
    'README.md',
    'embed-a-dashboard',
    'integrations',
    'isolate-customers',
    'holding',
    'offboard-a-customer',
    'go-to-production',
    'move-to-postgresql',
    'upgrade',
    'migrate-from-explo',
  ],
  'Call the API': [
    'api',
    'scopes',
    'clients',
    'client/README.md',
    'clients/python/README.md',
    'tokens',
    'webhooks',
  ],
  'Render dashboards': [
    'introspection',
    'renderer/README.md',
    'events',
    'gateways',
    'isolation',
    'isolation/README.md',
    ...['cube', 'superset', 'signed-urls', 'postgrest'].map((name) => `examples/adapters/${name}/README.md`),
  ],
  'Support customers': ['console', 'people', 'management', 'usage'],
  Operate: [
    'configuration',
    'configuration-file',
    'deployment',
    'cli',
    'operations',
    'postgresql',
    'reliability',
    'scaling',
    'performance',
    'benchmarks',
  ],
  Project: [
    'comparison',
    'roadmap',
    'CHANGELOG.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'CODE_OF_CONDUCT.md',
    'architecture',
    'glossary',
    'decisions/README',
  ],
}

const listed = Object.values(sections).flat().map(pathOf)
const unlisted = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md') && !listed.includes(`docs/${name}`))
  .map((name) => `docs/${name}`)
const sidebar = Object.entries({ ...sections, More: unlisted })
  .map(([text, pages]) => ({ text, items: pages.map(pathOf).filter(isFile).map(itemOf) }))
  .filter(({ items }) => items.length > 0)

// GitHub sets both variables. Without them, files that are no pages are named but not linked.
const { GITHUB_REPOSITORY: repository, GITHUB_SHA: commit = 'main', SITE_BASE = '' } = process.env
const home = repository && `https://github.com/${repository}`

export default defineConfig({
  title: 'User Group Service',
  description: 'Customer tokens for embedded dashboards, revocable at once',
  base: `${SITE_BASE}/`,
  srcDir: root,
  // Everything that is not in a section, except the decisions, which their index links.
  srcExclude: [
    ...['.github', 'bench', 'console', 'data', 'deploy', 'server', 'tools', 'examples/dashboard'].map(
      (folder) => `${folder}/**`,
    ),
    '**/bundle/**',
  ],
  outDir: fileURLToPath(new URL('dist', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../node_modules/.cache', import.meta.url)),
  // The others are checked.
  ignoreDeadLinks: 'localhostLinks',
  rewrites: { 'README.md': 'index.md' },
  // The pages are outside of the folder that has the packages.
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: require.resolve('vue/server-renderer') },
        { find: /^vue$/, replacement: require.resolve('vue/dist/vue.runtime.esm-bundler.js') },
      ],
    },
  },
  markdown: {
    anchor: { slugify },
    languageAlias: { caddyfile: 'nginx', ndjson: 'json' },
    config(md) {
      // Two braces in inline code are no expression of Vue.
      const { code_inline: renderCode } = md.renderer.rules
      md.renderer.rules.code_inline = (...args) => renderCode(...args).replace('<code', '<code v-pre')
      md.core.ruler.before('normalize', 'start-page', (state) => {
        const withoutBadges = state.src.replace(/^\[!\[.+\n/gm, '')
        state.src = withoutBadges.replace('https://github.com/OWNER/NAME', home ?? '$&')
      })
      md.core.ruler.push('links', ({ tokens, env }) => {
        for (const { children } of tokens) if (children) rewriteLinks(children, env.relativePath)
      })
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    ...(home && {
      socialLinks: [{ icon: 'github', link: home }],
      editLink: { pattern: `${home}/edit/main/:path`, text: 'Edit this page' },
    }),
  },
})

function pathOf(page) {
  return page.endsWith('.md') ? page : `docs/${page}.md`
}

function isFile(path) {
  return existsSync(join(root, path))
}

function itemOf(path) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))
  return { text: title.replaceAll('`', ''), link: linkOf(path) }
}

function linkOf(path) {
  return path === 'README.md' ? '/' : `/${path.replace(/\.md$/, '')}`
}

/** Returns the fragment that GitHub gives to a heading. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** Lets relative links to files that are no pages lead to the repository, and those to the README to the start page. */
function rewriteLinks(tokens, page) {
  for (const [i, token] of tokens.entries()) {
    if (token.type !== 'link_open') continue
    const [target, fragment] = token.attrGet('href').split('#')
    if (target === '' || /^[a-z]+:/.test(target)) continue
    const path = join(dirname(sourceOf(page)), target)
    const hash = fragment === undefined ? '' : `#${fragment}`
    if (isPage(path)) token.attrSet('href', `${linkOf(path)}${hash}`)
    else if (home) token.attrSet('href', `${home}/blob/${commit}/${path}${hash}`)
    else {
      const end = tokens.findIndex(({ type }, j) => j > i && type === 'link_close')
      for (const unlinked of [token, tokens[end]])
        Object.assign(unlinked, { type: 'text', tag: '', nesting: 0, content: '' })
    }
  }
}

function sourceOf(page) {
  return page === 'index.md' ? 'README.md' : page
}

function isPage(path) {
  return (listed.includes(path) || /^docs\/.*\.md$/.test(path)) && isFile(path)
}
