// Compiles the test files with esbuild, so that a test process loads a few files and compiles none.
import { build } from 'esbuild'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** A fault that `test-mutations.js` puts into a source, to see which test fails. */
const mutation = /** @type {import('./mutations.js').Mutation | undefined} */ (
  JSON.parse(process.env.TEST_MUTATION ?? 'null') ?? undefined
)

const root = fileURLToPath(new URL('../', import.meta.url))

/** Packages that are not compiled into the tests: native modules, packages that read their own files, and those of few tests. */
const externalPackages = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@opentelemetry/*',
  '@user-group-service/*',
  'axe-core',
  'axios',
  'better-sqlite3',
  'esbuild',
  'eslint',
  'pg-native',
  'playwright-core',
  'typescript-eslint',
]

/** React as in the built console, which needs half the CPU time. */
const builtReact = { 'process.env.NODE_ENV': '"production"' }

/** CommonJS packages load modules of Node.js with `require`. A test may declare the names itself. */
const globalRequire =
  "import { createRequire as createGlobalRequire } from 'node:module'; globalThis.require ??= createGlobalRequire(import.meta.url);"

/**
 * @typedef {object} TestFile
 * @property {string} source path of the test file, relative to the repository
 * @property {string} compiled path of the compiled file, relative to the repository
 * @property {string} folder path of the folder of all files compiled with it, relative to the repository
 */

/**
 * Compiles test files for one store. The compiled files are in `node_modules` of their workspace, so that they find the same
 * packages as their sources.
 * @param {string[]} sources paths relative to the repository
 * @param {'sqlite' | 'postgres'} store
 * @returns {Promise<TestFile[]>}
 */
export async function bundleTests(sources, store) {
  const byWorkspace = new Map(workspaces.map((workspace) => [workspace, /** @type {string[]} */ ([])]))
  for (const source of sources) byWorkspace.get(workspaceOf(source))?.push(source)
  const bundles = [...byWorkspace]
    .filter(([, entryPoints]) => entryPoints.length > 0)
    .map(async ([workspace, entryPoints]) => {
      const folder = join(outputFolder(workspace), store)
      const { metafile } = await build({
        absWorkingDir: root,
        entryPoints,
        outdir: folder,
        outbase: root,
        bundle: true,
        splitting: true,
        external: externalPackages,
        format: 'esm',
        platform: 'node',
        target: 'node20.19',
        define: {
          'process.env.UGS_TEST_STORE': JSON.stringify(store),
          ...(workspace === 'console' && builtReact),
        },
        // With this condition, the router of the console finds out at run time that it has a DOM.
        ...(workspace === 'console' && { conditions: ['development', 'module'] }),
        loader: { '.svg': 'empty' },
        banner: { js: globalRequire },
        sourcemap: true,
        metafile: true,
        plugins: [sourceUrls],
        logLevel: 'warning',
      })
      return Object.entries(metafile.outputs).flatMap(([compiled, { entryPoint }]) =>
        entryPoint === undefined || !sources.includes(entryPoint) || !canFail(entryPoint, metafile.inputs)
          ? []
          : [{ source: entryPoint, compiled, folder }],
      )
    })
  return (await Promise.all(bundles)).flat()
}

/**
 * Writes programs that each run several compiled files in one process, and returns the paths to run. Files of different workspaces
 * or stores do not share a process.
 * @param {TestFile[]} files
 * @param {number} size maximum number of files of a program
 * @param {number} timeout maximum time of a file, in milliseconds
 */
export function groupTests(files, size, timeout) {
  /** @type {Map<string, TestFile[]>} */
  const byFolder = new Map()
  for (const file of files) byFolder.set(file.folder, [...(byFolder.get(file.folder) ?? []), file])
  return [...byFolder].flatMap(([folder, members]) => {
    const groups = Math.ceil(members.length / size)
    return Array.from({ length: groups }, (_, i) => {
      const group = members.filter((_, n) => n % groups === i)
      const program = join(folder, `group-${++programs}.js`)
      const urls = group.map(({ source, compiled }) => [source, pathToFileURL(compiled).href])
      writeFileSync(
        program,
        `import { runGroup } from ${JSON.stringify(groupRunner)}\nawait runGroup(${JSON.stringify(urls)}, ${timeout})\n`,
      )
      return program
    })
  })
}

let programs = 0
const groupRunner = new URL('test-group.js', import.meta.url).href

export function removeBundles() {
  for (const workspace of workspaces)
    rmSync(join(root, outputFolder(workspace)), { recursive: true, force: true })
}

const workspaces = [
  'server',
  'renderer',
  'isolation',
  'client',
  'console',
  'examples/dashboard',
  'examples/adapters',
  'bench',
]

const workspaceOf = (/** @type {string} */ file) =>
  workspaces.find((workspace) => file.startsWith(`${workspace}/`)) ?? ''

// Several runs may be under way at once.
const outputFolder = (/** @type {string | undefined} */ workspace) =>
  `${workspace}/node_modules/.tests-${process.pid}`

/**
 * Returns whether a test file loads the mutated source, if there is one.
 * @param {string} entryPoint
 * @param {import('esbuild').Metafile['inputs']} inputs
 */
function canFail(entryPoint, inputs) {
  if (mutation === undefined) return true
  const reached = new Set([entryPoint])
  for (const file of reached) for (const { path } of inputs[file]?.imports ?? []) reached.add(path)
  return reached.has(mutation.file)
}

/**
 * @param {string} file path relative to the repository
 * @param {string} text
 */
function mutated(file, text) {
  if (file !== mutation?.file) return text
  if (text.split(mutation.from).length !== 2)
    throw new Error(`${file} does not contain the text once: ${mutation.from}`)
  return text.replace(mutation.from, () => mutation.to)
}

/**
 * Returns the file that a module takes for itself when it looks for others: the service starts scripts of its build output.
 * @param {string} path
 */
const builtFile = (path) =>
  path.startsWith(join(root, 'server/src/'))
    ? path.replace('/server/src/', '/server/dist/').replace(/\.ts$/, '.js')
    : path

/** @type {import('esbuild').Plugin} */
const sourceUrls = {
  name: 'source-urls',
  setup(compilation) {
    compilation.onLoad({ filter: /\.([jt]s|tsx)$/ }, ({ path }) => ({
      contents: mutated(relative(root, path), readFileSync(path, 'utf8')).replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(builtFile(path)).href),
      ),
      loader: /** @type {'js' | 'ts' | 'tsx'} */ (/\w+$/.exec(path)?.[0]),
    }))
  },
}
