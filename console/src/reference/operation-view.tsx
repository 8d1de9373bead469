import { Badge, Code, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { CopyButton } from '../components/copy-button.tsx'
import { JsonBlock } from '../components/code-block.tsx'
import { useSessionState } from '../session/store.ts'
import { typeOf, type ApiDocument, type ApiResponse, type Content, type Operation } from './document.ts'
import { Prose } from './prose.tsx'
import classes from './reference.module.css'
import { curlOf, initialValues } from './request-parts.ts'
import { Line, SchemaView } from './schema-view.tsx'
import { takesSession, TryIt } from './try-it.tsx'

interface Props {
  readonly document: ApiDocument
  readonly operation: Operation
}

interface DisclosureProps extends Props {
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** An operation whose details open on request. */
export function OperationView({ document, operation, isOpen, onToggle }: DisclosureProps) {
  const { operationId, method, path, summary } = operation
  return (
    <section id={operationId} className={classes.operation} aria-labelledby={`${operationId}-title`}>
      <Title order={3} fz="sm" id={`${operationId}-title`}>
        <UnstyledButton
          className={classes.toggle}
          onClick={onToggle}
          aria-expanded={isOpen}
          aria-controls={`${operationId}-details`}
        >
          <Badge
            variant={method === 'GET' ? 'default' : 'light'}
            color={method === 'DELETE' ? 'red' : 'teal'}
            miw={70}
          >
            {method}
          </Badge>
          <span className={classes.path}>{path}</span>
          <Text span size="sm" c="dimmed">
            {summary}
          </Text>
        </UnstyledButton>
      </Title>
      <div id={`${operationId}-details`} hidden={!isOpen}>
        {isOpen && <Details document={document} operation={operation} />}
      </div>
    </section>
  )
}

function Details({ document, operation }: Props) {
  const { operationId, description, parameters = [], requestBody, responses } = operation
  const [values, setValues] = useState(() => initialValues(operation))
  const command = curlOf(operation, values)
  return (
    <Stack gap="md" p="md" className={classes.details}>
      {description !== undefined && (
        <div>
          <Prose text={description} />
        </div>
      )}
      {parameters.length > 0 && (
        <Part title="Parameters">
          <ul className={classes.members}>
            {parameters.map((parameter) => (
              <li key={`${parameter.in} ${parameter.name}`}>
                <Line
                  name={parameter.name}
                  type={`${parameter.in}, ${typeOf(document, parameter.schema)}`}
                  isRequired={parameter.required === true}
                  description={parameter.description ?? parameter.schema.description}
                />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {requestBody !== undefined && (
        <Part title="Request body">
          <ContentView document={document} content={requestBody.content} label={`body of ${operationId}`} />
        </Part>
      )}
      <Part title="Responses">
        {Object.entries(responses).map(([status, response]) => (
          <ResponseView
            key={status}
            document={document}
            status={status}
            response={response}
            operationId={operationId}
          />
        ))}
      </Part>
      <Part title="As a command">
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Code block flex={1} miw={0} className={classes.command}>
            {command}
          </Code>
          <CopyButton value={command} label="Copy the command" />
        </Group>
      </Part>
      {takesSession(operation) && (
        <Part title="Try it">
          <SessionNote />
          <TryIt operation={operation} values={values} onChange={setValues} />
        </Part>
      )}
    </Stack>
  )
}

function SessionNote() {
  if (useSessionState().kind === 'signed_in') return null
  return (
    <Text size="sm">
      Sign in to the console to send requests from this page with the rights of its session.
    </Text>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <Title order={4} fz="sm" mb={6}>
        {title}
      </Title>
      <Stack gap="xs">{children}</Stack>
    </div>
  )
}

interface ResponseProps {
  readonly document: ApiDocument
  readonly status: string
  readonly response: ApiResponse
  readonly operationId: string
}

/** Shows a response. Errors all have the same body, so only their codes are of interest. */
function ResponseView({ document, status, response, operationId }: ResponseProps) {
  const isError = status >= '400'
  return (
    <details open={!isError}>
      <summary>{status}</summary>
      <Stack gap="xs" pl="md" pt={4}>
        <Prose text={response.description} />
        {!isError && response.content !== undefined && (
          <ContentView
            document={document}
            content={response.content}
            label={`response ${status} of ${operationId}`}
          />
        )}
      </Stack>
    </details>
  )
}

interface ContentProps {
  readonly document: ApiDocument
  readonly content: Content
  /** Noun for the example. */
  readonly label: string
}

function ContentView({ document, content, label }: ContentProps) {
  return Object.entries(content).map(([type, { schema, example }]) => (
    <Stack key={type} gap="xs">
      <Text size="xs" c="dimmed">
        {type}
      </Text>
      {schema !== undefined && <SchemaView document={document} schema={schema} />}
      {example !== undefined && <JsonBlock value={example} label={`Example: ${label}`} />}
    </Stack>
  ))
}
