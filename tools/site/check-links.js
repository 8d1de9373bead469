// Checks that every link of the built site leads to a file of it, and to an element of that page.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const base = `${process.env.SITE_BASE ?? ''}/`
const site = new URL('.vitepress/dist/', import.meta.url)
const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.html'),
)
const idsOf = new Map(pages.map((page) => [page, new Set(valuesOf(page, 'id'))]))
const broken = pages.flatMap((page) =>
  linksOf(page)
    .filter((link) => !leadsSomewhere(page, link))
    .map((link) => `${page}: ${link}`),
)
if (broken.length > 0) {
  console.error(broken.join('\n'))
  process.exitCode = 1
} else console.log(`${pages.length} pages: all links lead somewhere.`)

/** @param {string} page */
function linksOf(page) {
  return ['href', 'src', 'srcset'].flatMap((name) => valuesOf(page, name))
}

/**
 * @param {string} page
 * @param {string} name
 */
function valuesOf(page, name) {
  const html = readFileSync(new URL(page, site), 'utf8')
  return [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )
}

/**
 * @param {string} page
 * @param {string} link
 */
function leadsSomewhere(page, link) {
  const { origin, pathname, hash } = new URL(link, `http://site${base}${page}`)
  if (origin !== 'http://site') return true
  if (!pathname.startsWith(base)) return false
  const path = decodeURI(pathname.slice(base.length))
  const target = path === '' || path.endsWith('/') ? `${path}index.html` : path
  const ids = idsOf.get(target)
  return (
    existsSync(fileURLToPath(new URL(target, site))) &&
    (hash === '' || ids?.has(decodeURI(hash.slice(1))) === true)
  )
}
