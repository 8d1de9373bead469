import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runUgs, sharedService, temporaryFolder, type CommandResult } from '../support/service.ts'

const inTesting = ['--environment', 'Testing']

interface Shown {
  readonly id: number
  readonly schema_id?: number
  readonly provided_id: string
  readonly name: string
  readonly created_at: string
}

describe('ugs schema and ugs data-source', () => {
  const service = sharedService()

  /** Runs a command line, followed by arguments that are not split. */
  const ugs = (line: string, ...rest: string[]) => service().ugs(...line.split(' '), ...rest)

  /** Parses the standard output of a successful command, which must print nothing to standard error. */
  function json({ code, stdout, stderr }: CommandResult): Shown {
    assert.equal(code, 0, stderr)
    assert.equal(stderr, '')
    return JSON.parse(stdout) as Shown
  }

  /** Asserts success with one line on standard error. */
  function assertDone({ code, stdout, stderr }: CommandResult, message: string): void {
    assert.deepEqual([code, stdout, stderr], [0, '', `${message}\n`])
  }

  function assertFails({ code, stdout, stderr }: CommandResult, message: string): void {
    assert.deepEqual([code, stdout, stderr], [1, '', `ugs: ${message}\n`])
  }

  const createSchema = (providedId: string, name = 'A', where = inTesting) =>
    ugs('schema create --provided-id', providedId, '--name', name, ...where, '--json')
  const createDataSource = (schema: number | string, providedId: string, name = 'A', where = inTesting) =>
    ugs(
      'data-source create --provided-id',
      providedId,
      '--schema',
      String(schema),
      '--name',
      name,
      ...where,
      '--json',
    )
  const list = async (noun: 'schema' | 'data-source', where = inTesting) =>
    json(await ugs(`${noun} list --json`, ...where)) as unknown as Shown[]

  /** Creates a workspace and returns the options that select it in Testing. */
  const ownWorkspace = async (name: string) => {
    await ugs('workspace create', name)
    return ['--workspace', name, ...inTesting]
  }

  it('create prints the id, and list shows all in the order of ids', async () => {
    const where = await ownWorkspace('texts')
    const created = await ugs('schema create --provided-id', 'sales eu', '--name', 'Säles', ...where)
    const [schema, ...others] = await list('schema', where)
    assert.ok(schema)
    assert.deepEqual(others, [])
    assertDone(created, `Registered schema ${schema.id} "sales eu".`)
    const ofSchema = await ugs(
      ...['data-source create --schema', String(schema.id), '--provided-id', 'warehouse', '--name'],
      ...['A b', ...where],
    )
    const [dataSource] = await list('data-source', where)
    assertDone(ofSchema, `Registered data source ${dataSource?.id} "warehouse".`)

    const schemas = await ugs('schema list', ...where)
    assert.deepEqual([schemas.code, schemas.stderr], [0, ''])
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
    assert.match(
      schemas.stdout,
      new RegExp(`^ID +PROVIDED_ID +NAME +CREATED\n${schema.id} +sales eu +Säles +${time}\n$`),
    )
    const dataSources = await ugs('data-source list', ...where)
    assert.match(
      dataSources.stdout,
      new RegExp(
        `^ID +SCHEMA_ID +PROVIDED_ID +NAME +CREATED\n${dataSource?.id} +${schema.id} +warehouse +A b +${time}\n$`,
      ),
    )
  })

  it('list shows only the heading if there are no entries', async () => {
    const where = await ownWorkspace('nothing')
    assert.equal((await ugs('schema list', ...where)).stdout, 'ID  PROVIDED_ID  NAME  CREATED\n')
    assert.equal(
      (await ugs('data-source list', ...where)).stdout,
      'ID  SCHEMA_ID  PROVIDED_ID  NAME  CREATED\n',
    )
    assert.deepEqual([await list('schema', where), await list('data-source', where)], [[], []])
  })

  it('create --json prints the same fields as list --json', async () => {
    const where = await ownWorkspace('json')
    const schemas = [json(await createSchema('b', 'B', where)), json(await createSchema('a', '😀', where))]
    const [first, second] = schemas
    assert.ok(first && second && second.id > first.id)
    assert.deepEqual(Object.keys(first), ['id', 'provided_id', 'name', 'created_at'])
    assert.deepEqual([second.provided_id, second.name], ['a', '😀'])
    assert.deepEqual(await list('schema', where), schemas)

    const dataSources = [
      json(await createDataSource(second.id, 'z', 'Z', where)),
      json(await createDataSource(first.id, 'z', 'A', where)),
    ]
    assert.deepEqual(Object.keys(dataSources[0] ?? {}), [
      'id',
      'provided_id',
      'name',
      'created_at',
      'schema_id',
    ])
    assert.deepEqual(
      dataSources.map(({ schema_id, provided_id, name }) => [schema_id, provided_id, name]),
      [
        [second.id, 'z', 'Z'],
        [first.id, 'z', 'A'],
      ],
    )
    assert.deepEqual(await list('data-source', where), dataSources)
    for (const { created_at } of [...schemas, ...dataSources]) {
      assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000, created_at)
    }
  })

  it('create fails if the provided id is taken', async () => {
    const { id } = json(await createSchema('taken'))
    assertFails(await createSchema('taken', 'Another'), 'provided_id: is taken')
    json(await createDataSource(id, 'taken'))
    assertFails(await createDataSource(id, 'taken'), 'provided_id: is taken')
    const other = json(await createSchema('taken too'))
    json(await createDataSource(other.id, 'taken'))
  })

  it('takes a schema by its provided id or its id', async () => {
    const where = await ownWorkspace('schemas')
    const [sales, stock] = [
      json(await createSchema('sales eu', 'A', where)),
      json(await createSchema('stock', 'A', where)),
    ]
    // A provided id takes precedence over an id with the same text.
    const other = json(await createSchema(String(sales.id), 'A', where))
    const schemaOf = async (named: string) =>
      json(await createDataSource(named, `of ${named}`, 'A', where)).schema_id
    assert.equal(await schemaOf('sales eu'), sales.id)
    assert.equal(await schemaOf('stock'), stock.id)
    assert.equal(await schemaOf(String(stock.id)), stock.id)
    assert.equal(await schemaOf(String(sales.id)), other.id)
    assert.equal(await schemaOf(String(other.id)), other.id)

    const all = await list('data-source', where)
    for (const [named, id] of [
      ['sales eu', sales.id],
      ['stock', stock.id],
      [String(stock.id), stock.id],
      [String(sales.id), other.id],
    ] as const) {
      const listed = json(await ugs('data-source list --json --schema', named, ...where))
      assert.deepEqual(
        listed,
        all.filter(({ schema_id }) => schema_id === id),
      )
    }
    const { code, stdout } = await ugs('data-source list --schema stock', ...where)
    assert.deepEqual([code, stdout.split('\n').length], [0, 4])
    const empty = json(await createSchema('empty', 'A', where))
    assert.deepEqual(json(await ugs(`data-source list --json --schema ${empty.id}`, ...where)), [])
  })

  it('data-source create and list fail if there is no such schema', async () => {
    const ofCustomer = json(await createSchema('elsewhere', 'A', ['--environment', 'Customer']))
    const where = await ownWorkspace('elsewhere')
    const ofOther = json(await createSchema('elsewhere', 'A', where))
    const absent = [
      999_999_999,
      ofCustomer.id,
      ofOther.id,
      'elsewhere',
      'Elsewhere',
      '0',
      '01',
      '1e2',
      '9'.repeat(30),
    ]
    for (const schema of absent) {
      const message = `there is no schema "${schema}"; see \`ugs schema list\``
      assertFails(await createDataSource(schema, 'eu', 'A', inTesting), message)
      assertFails(await ugs('data-source list --schema', String(schema), ...inTesting), message)
    }
  })

  it('delete removes unused schemas and data sources', async () => {
    const schema = json(await createSchema('deleted'))
    const dataSource = json(await createDataSource(schema.id, 'deleted'))
    const deleteSchema = () => ugs(`schema delete ${schema.id}`, ...inTesting)
    const deleteDataSource = () => ugs(`data-source delete ${dataSource.id}`, ...inTesting)

    assertFails(await deleteSchema(), 'The schema has data sources; delete those first')
    assertDone(await deleteDataSource(), `Deleted the data source ${dataSource.id}.`)
    assertFails(await deleteDataSource(), 'Nothing with this id exists in this environment')
    assertDone(await deleteSchema(), `Deleted the schema ${schema.id}.`)
    assertFails(await deleteSchema(), 'Nothing with this id exists in this environment')
    assert.ok(!(await list('schema')).some(({ id }) => id === schema.id))

    const again = json(await createSchema('deleted'))
    const secondSource = json(await createDataSource(again.id, 'deleted'))
    assert.ok(again.id > schema.id && secondSource.id > dataSource.id)
    const deleted = await ugs(`data-source delete ${secondSource.id} --json`, ...inTesting)
    assert.deepEqual(json(deleted), { deleted: true })
    const gone = await ugs(`schema delete ${again.id} --json`, ...inTesting)
    assert.deepEqual(json(gone), { deleted: true })
  })

  it('data-source delete fails while a user group is mapped to it', async () => {
    const schema = json(await createSchema('mapped'))
    const dataSource = json(await createDataSource(schema.id, 'eu'))
    const remove = () => ugs(`data-source delete ${dataSource.id}`, ...inTesting)
    const inUse = 'User groups are mapped to the data source; map them to others first'
    const mapTo = async (mapping: string) => {
      const args = ['mapped-group', '--name', 'A', '--mapping', mapping, ...inTesting]
      const { code, stderr } = await ugs('user-group get-or-create', ...args)
      assert.equal(code, 0, stderr)
    }
    for (const mapping of ['{"mapped":"eu"}', `{"${schema.id}":"${dataSource.id}"}`]) {
      await mapTo(mapping)
      assertFails(await remove(), inUse)
    }
    await mapTo('null')
    assertDone(await remove(), `Deleted the data source ${dataSource.id}.`)
  })

  it('separates environments and workspaces', async () => {
    const wheres = [inTesting, ['--environment', 'Customer'], await ownWorkspace('apart')]
    const all: { schema: Shown; dataSource: Shown; where: string[] }[] = []
    for (const where of wheres) {
      const schema = json(await createSchema('same', 'A', where))
      all.push({ schema, dataSource: json(await createDataSource(schema.id, 'same', 'A', where)), where })
    }
    for (const { schema, dataSource, where } of all) {
      const [schemas, dataSources] = [await list('schema', where), await list('data-source', where)]
      for (const other of all) {
        const isOwn = other.where === where
        assert.equal(
          schemas.some(({ id }) => id === other.schema.id),
          isOwn,
        )
        assert.equal(
          dataSources.some(({ id }) => id === other.dataSource.id),
          isOwn,
        )
        if (isOwn) continue
        assertFails(
          await ugs(`data-source delete ${dataSource.id}`, ...other.where),
          'Nothing with this id exists in this environment',
        )
        assertFails(
          await ugs(`schema delete ${schema.id}`, ...other.where),
          'Nothing with this id exists in this environment',
        )
      }
    }
  })

  it('accepts any text as a name, and shows it unchanged', async () => {
    const where = await ownWorkspace('names')
    for (const text of [
      '😀'.repeat(255),
      '__proto__',
      '-x',
      '"\'\\`$(x)',
      ' a',
      'a\u2028',
      '040',
      'e\u0301',
    ]) {
      const created = json(
        await ugs('schema create', `--provided-id=${text}`, `--name=${text}`, '--json', ...where),
      )
      assert.deepEqual([created.provided_id, created.name], [text, text])
      const { schema_id, ...dataSource } = json(
        await ugs(
          ...[`data-source create --schema ${created.id}`, `--provided-id=${text}`, `--name=${text}`],
          ...['--json', ...where],
        ),
      )
      assert.equal(schema_id, created.id)
      assert.deepEqual([dataSource.provided_id, dataSource.name], [text, text])
    }
  })

  for (const text of [
    '',
    ' ',
    '\u00a0',
    '\u200b\u3164',
    'a\nb',
    '\u001b[31m',
    '\u007f',
    'a\u0085b',
    '\t',
    'x'.repeat(256),
  ]) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))} for a provided id and for a name`, async () => {
      const { id } = json(await createSchema(`refused ${encodeURIComponent(text)}`.slice(0, 99)))
      for (const [providedId, name] of [
        [text, 'A'],
        ['a', text],
      ] as const) {
        const schema = await createSchema(providedId, name)
        const dataSource = await createDataSource(id, providedId, name)
        for (const { code, stdout, stderr } of [schema, dataSource]) {
          assert.deepEqual([code, stdout], [2, ''])
          assert.match(stderr, /It must be 1 to 255 characters, at least one of them visible/)
        }
      }
      assert.ok(!(await list('data-source')).some(({ schema_id }) => schema_id === id))
    })
  }

  it('lists the workspaces if one is unknown', async () => {
    for (const line of ['schema list', 'data-source list', 'schema delete 1', 'data-source delete 1']) {
      const { code, stdout, stderr } = await ugs(line, ...inTesting, '--workspace', 'typo')
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, /^ugs: there is no workspace "typo"; the workspaces are "default"/)
    }
  })
})

describe('ugs schema and ugs data-source, wrong usage', () => {
  const wrong: string[][] = [
    ['schema'],
    ['schema', 'rename'],
    ['schema', 'list'],
    ['schema', 'list', '--environment', 'Production'],
    ['schema', 'create', ...inTesting],
    ['schema', 'create', ...inTesting, '--name', 'A'],
    ['schema', 'create', ...inTesting, '--provided-id', 'a'],
    ['schema', 'create', '--provided-id', 'a', '--name', 'A'],
    ['schema', 'delete', ...inTesting],
    ['schema', 'delete', 'sales', ...inTesting],
    ['schema', 'delete', '1'],
    ['data-source'],
    ['data-source', 'list'],
    ['data-source', 'create', ...inTesting, '--provided-id', 'a', '--name', 'A'],
    ['data-source', 'create', ...inTesting, '--schema', '', '--provided-id', 'a', '--name', 'A'],
    ['data-source', 'list', ...inTesting, '--schema', ''],
    ['data-source', 'list', ...inTesting, '--schema'],
    ['data-source', 'create', ...inTesting, '--schema', '1', '--name', 'A'],
    ['data-source', 'delete', ...inTesting],
    ...['0', '-1', '1.5', '1e2', '01', ' 1', '9007199254740992', 'x'].map((id) => [
      'data-source',
      'delete',
      id,
      ...inTesting,
    ]),
    ['data-source', 'delete', '1', '2', ...inTesting],
  ]
  for (const args of wrong) {
    it(`exits with 2: ugs ${args.join(' ')}`, async (t) => {
      const { code, stdout, stderr } = await runUgs(args, { UGS_DATA_DIR: temporaryFolder(t) })
      assert.deepEqual([code, stdout], [2, ''])
      assert.notEqual(stderr, '')
      assert.doesNotMatch(stderr, /internal error|\bat .*:\d+:\d+/)
    })
  }
})
