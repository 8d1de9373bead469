import { readdirSync } from 'node:fs'
import js from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

// Import rule (docs/decisions/0001): the parts and packages that each part of server/src may import besides itself and
// `node:*`. `types` may be imported as types only.
const importRule = {
  domain: {},
  contract: { parts: ['domain'], packages: ['typebox', 'ajv'] },
  store: { parts: ['domain', 'output-file.ts', 'package-folder.ts'], packages: ['better-sqlite3', 'pg'] },
  http: { parts: ['domain', 'contract'], packages: ['fastify', 'lru-cache', 'openid-client', 'typebox'] },
  'app.ts': {
    parts: ['http', 'contract', 'domain', 'observability'],
    packages: ['fastify', 'pino'],
  },
  config: { parts: ['domain', 'output-file.ts', 'store'] },
  observability: {
    parts: ['domain', 'http'],
    packages: [
      'fastify',
      'pino',
      'prom-client',
      '@opentelemetry/api',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-base',
    ],
    types: ['store'],
  },
  runtime: {
    parts: [
      'app.ts',
      'config',
      'contract',
      'domain',
      'http',
      'observability',
      'package-folder.ts',
      'store',
      'version.ts',
    ],
    packages: ['fastify', 'pino', 'undici'],
  },
  cli: {
    parts: [
      'config',
      'contract',
      'domain',
      'http/admin',
      'observability',
      'output-file.ts',
      'runtime',
      'store',
      'version.ts',
    ],
    packages: ['cli-progress', 'commander'],
  },
  'main.ts': { parts: ['cli'] },
  'output-file.ts': {},
  'package-folder.ts': {},
  'version.ts': { parts: ['package-folder.ts'] },
}

/**
 * Refuses doc comments that start with a question word instead of a verb or a noun (CONTRIBUTING.md). `eslint-plugin-jsdoc` can
 * do the same, but would add 16 packages of 8 MB.
 * @type {import('eslint').Rule.RuleModule}
 */
const docCommentOpening = {
  create: (context) => ({
    Program() {
      for (const { type, value, loc } of context.sourceCode.getAllComments()) {
        const opening = type === 'Block' ? questionOpening.exec(value)?.[1] : undefined
        if (opening === undefined || !loc) continue
        context.report({
          loc,
          message: `Start with a verb or a noun, for example "Returns …", not "${opening} …".`,
        })
      }
    },
  }),
}

const questionOpening =
  /^\*[\s*]*(What|Whatever|Whether|Who|Whom|Whose|Whoever|Which|Why|When|Where|Wherever|How|For how long|So|Of)\b/

const parts = Object.keys(importRule)

for (const part of readdirSync(new URL('server/src/', import.meta.url))) {
  if (!parts.includes(part))
    throw new Error(`server/src/${part} has no row in the import rule of eslint.config.js`)
}

/**
 * @param {[string, { parts?: string[], packages?: string[], types?: string[] }]} row
 * @returns {import('eslint').Linter.Config}
 */
function importsOf([part, { parts: open = [], packages = [], types = [] }]) {
  const closed = parts.filter((other) => other !== part && !open.includes(other))
  const isFolder = !part.endsWith('.ts')
  const pathTo = (/** @type {string} */ other) => {
    const openFolders = open
      .filter((path) => path.startsWith(`${other}/`))
      .map((path) => path.slice(other.length + 1))
    const closedFolder = openFolders.length === 0 ? '/' : `/(?!(${openFolders.join('|')})/)`
    return `^\\.{1,2}/(\\.\\./)*${other.replace('.', '\\.')}(${closedFolder}|$)`
  }
  const patterns = [
    ...closed
      .filter((other) => !types.includes(other))
      .map((other) => ({ regex: pathTo(other), message: `${part} may not import ${other}.` })),
    ...types.map((other) => ({
      regex: pathTo(other),
      allowTypeImports: true,
      message: `${part} may import types of ${other} only.`,
    })),
    {
      regex: `^(?!\\.|node:${packages.map((name) => `|${name}$`).join('')})`,
      message: `${part} may import ${['node:*', ...packages].join(', ')} and nothing else from outside.`,
    },
  ]
  return {
    files: [isFolder ? `server/src/${part}/**/*.ts` : `server/src/${part}`],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', { patterns }],
      // The rule above does not see dynamic imports. These parts load modules on demand to start fast: modules that few
      // commands need, the driver of the chosen store, and traces.
      ...(!['cli', 'runtime', 'store'].includes(part) && {
        'no-restricted-syntax': [
          'error',
          { selector: 'ImportExpression', message: `${part} may import in the usual way only.` },
        ],
      }),
    },
  }
}

export default defineConfig(
  globalIgnores([
    '**/bundle/',
    'server/console/',
    '**/dist/',
    '**/data/',
    'client/src/schemas.ts',
    'client/src/management-api.ts',
  ]),
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.check.json' } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { local: { rules: { 'doc-comment-opening': docCommentOpening } } },
    rules: {
      'local/doc-comment-opening': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }],
      // TypeScript knows what is defined, in JavaScript files too (tsconfig.check.json).
      'no-undef': 'off',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // The rule asks for `!`, which the strict rules forbid.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      // node:test collects the promises of its tests by itself.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['describe', 'it', 'test'], package: 'node:test' },
          ],
        },
      ],
    },
  },
  Object.entries(importRule).map(importsOf),
  {
    files: ['{server,client,renderer,isolation,console}/src/**/*.{ts,tsx}', '{bench,scripts}/**/*.js'],
    rules: {
      'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true }],
    },
  },
  {
    // Browser code has its own types.
    files: ['console/src/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: './console/tsconfig.json' } },
  },
  {
    // The rule does not see a type that a comment gives to the result of JSON.parse.
    files: ['**/*.js'],
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off' },
  },
  {
    // Their packages are not installed with the workspaces, so TypeScript cannot resolve them.
    files: ['bench/alternatives/**', 'examples/adapters/test/cube-server.js', 'tools/**'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { parserOptions: { project: null } },
  },
  {
    // Cube loads it with require.
    files: ['examples/adapters/cube/cube.js'],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['**/test/unit/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex:
                '^node:(child_process|cluster|worker_threads)$|^@user-group-service/|/dist/|/support/(build-output|chromium|database)\\.ts$',
              message: 'A unit test needs no other process, no PostgreSQL, no browser and no build.',
            },
          ],
        },
      ],
    },
  },
  {
    // Tests read responses whose shape they assert.
    files: ['server/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
)
