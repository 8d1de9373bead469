import { Code, Text } from '@mantine/core'
import { resolved, typeOf, type ApiDocument, type Schema } from './document.ts'
import { Prose } from './prose.tsx'
import classes from './reference.module.css'

interface Props {
  readonly document: ApiDocument
  readonly schema: Schema
}

/** Lists the members of a schema. */
export function SchemaView({ document, schema }: Props) {
  const parts = objectsIn(document, schema)
  if (parts.length === 0) return <Code>{typeOf(document, schema)}</Code>
  return parts.map((part, i) => (
    <div key={i}>
      {i > 0 && (
        <Text size="sm" c="dimmed" my="xs">
          or
        </Text>
      )}
      <Members document={document} schema={part} />
    </div>
  ))
}

function Members({ document, schema: { properties = {}, required = [] } }: Props) {
  return (
    <ul className={classes.members}>
      {Object.entries(properties).map(([name, member]) => (
        <li key={name}>
          <Line
            name={name}
            type={typeOf(document, member)}
            isRequired={required.includes(name)}
            description={resolved(document, member).description}
          />
          {objectsIn(document, member).length > 0 && (
            <details>
              <summary>
                Members<span className={classes.hidden}> of {name}</span>
              </summary>
              <SchemaView document={document} schema={member} />
            </details>
          )}
        </li>
      ))}
    </ul>
  )
}

interface LineProps {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string | undefined
}

/** Describes one member or parameter. */
export function Line({ name, type, isRequired, description }: LineProps) {
  return (
    <>
      <Text size="sm" component="div">
        <strong className={classes.name}>{name}</strong>{' '}
        <Text span size="xs" c="dimmed">
          {type}
          {isRequired && ', required'}
        </Text>
      </Text>
      {description !== undefined && <Prose text={description} />}
    </>
  )
}

/** Returns the objects with members that a value of a schema can be or contain. */
function objectsIn(document: ApiDocument, given: Schema): readonly Schema[] {
  const schema = resolved(document, given)
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((part) => objectsIn(document, part))
  if (schema.items !== undefined) return objectsIn(document, schema.items)
  if (schema.properties !== undefined) return [schema]
  return typeof schema.additionalProperties === 'object'
    ? objectsIn(document, schema.additionalProperties)
    : []
}
