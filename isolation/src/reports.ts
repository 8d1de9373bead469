import { isAbsolute, relative, sep } from 'node:path'
import type { Verdict } from './probe.ts'

/** Limits of the judgements. */
const limits = [
  'It judges these templates, these customers and this data: a leak that needs a value which no row has is not seen.',
  'Timing, operators and casts of your own, and what a program does with the result, are not judged.',
]

export interface Report {
  /** Folder to which the paths are relative. */
  readonly folder: string
  readonly verdicts: readonly Verdict[]
  /** Number of customers without the stranger. */
  readonly customers: number
}

export const formats: Readonly<Record<string, (report: Report) => string>> = { text, json, junit, sarif }

function countsOf(verdicts: readonly Verdict[]) {
  const count = (judgement: Verdict['judgement']) =>
    verdicts.filter((verdict) => verdict.judgement === judgement).length
  return { templates: verdicts.length, ok: count('ok'), leak: count('leak'), not_judged: count('not_judged') }
}

function text({ verdicts, customers }: Report): string {
  const width = Math.max(...verdicts.map((verdict) => placeOf(verdict).length))
  const lines = verdicts.flatMap((verdict) => {
    const mark = { ok: 'ok    ', leak: 'LEAK  ', not_judged: '?     ' }[verdict.judgement]
    const reason = verdict.reason ?? `${plural(customers, 'customer')}, 1 stranger`
    const examples = verdict.examples.map(
      ({ withOthers, alone }) =>
        `         with others: ${JSON.stringify(withOthers)}   alone: ${JSON.stringify(alone)}`,
    )
    return [`${mark} ${placeOf(verdict).padEnd(width)}  ${reason}`, ...examples]
  })
  const { templates, leak, not_judged: notJudged } = countsOf(verdicts)
  const summary = `${plural(templates, 'template')}, ${plural(leak, 'leak')}, ${notJudged} not judged`
  return [...lines, summary, '', ...limits].join('\n')
}

function json({ verdicts, customers }: Report): string {
  const templates = verdicts.map(({ userGroupId, differingRows, examples, ...verdict }) => ({
    ...verdict,
    user_group_id: userGroupId,
    differing_rows: differingRows,
    examples: examples.map(({ withOthers, alone }) => ({ with_others: withOthers, alone })),
  }))
  const summary = { ...countsOf(verdicts), user_groups: customers }
  return JSON.stringify({ templates, summary, limits }, undefined, 2)
}

/** A leak is a failure, and a template that is not judged an error: neither may pass unseen. */
function junit({ verdicts }: Report): string {
  const { templates, leak, not_judged: notJudged } = countsOf(verdicts)
  const cases = verdicts.map(({ path, judgement, reason }) => {
    const name = `<testcase classname="isolation" name="${escaped(path)}"`
    if (judgement === 'ok') return `  ${name}/>`
    const element = judgement === 'leak' ? 'failure' : 'error'
    return `  ${name}><${element} message="${escaped(reason ?? '')}"/></testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="ugs-isolation" tests="${templates}" failures="${leak}" errors="${notJudged}">`,
    ...cases,
    '</testsuite>',
  ].join('\n')
}

function sarif({ verdicts, folder }: Report): string {
  const rules = [
    { id: 'leak', shortDescription: { text: "The result depends on other customers' rows" } },
    { id: 'not_judged', shortDescription: { text: 'The template could not be judged' } },
  ]
  const results = verdicts
    .filter(({ judgement }) => judgement !== 'ok')
    .map(({ path, judgement, reason, line }) => {
      const [, file = path, name] = /^(.*\.[cm]?js)#(.*)$/.exec(path) ?? []
      return {
        ruleId: judgement,
        level: judgement === 'leak' ? 'error' : 'warning',
        message: { text: name === undefined ? reason : `${name}: ${reason}` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: uriOf(folder, file) },
              region: { startLine: line ?? 1 },
            },
          },
        ],
      }
    })
  return JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'ugs-isolation', rules } }, results }],
    },
    undefined,
    2,
  )
}

/** Returns the URI of a file relative to the current folder, which is that of the repository in CI. */
function uriOf(folder: string, file: string): string {
  const path = relative(process.cwd(), folder)
  const isInside = path !== '' && !path.startsWith('..') && !isAbsolute(path)
  return [...(isInside ? path.split(sep) : []), ...file.split('/')].map(encodeURIComponent).join('/')
}

function placeOf({ path, line }: Verdict): string {
  return line === null ? path : `${path}:${line}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  // XML has no other control characters.
  return text
    .replace(/[&<>"]/g, (mark) => entities[mark] ?? mark)
    .replace(/[^\t\n\r\u0020-\ufffd]/gu, '\ufffd')
}
