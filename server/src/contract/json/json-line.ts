import { jsonPointer, stepsOfPointer } from '../../domain/json/json-pointer.ts'

interface Container {
  readonly isArray: boolean
  step: number | string
}

/** Returns the line of a member or element in a valid JSON text, or that of the nearest one around it. */
export function lineOf(text: string, pointer: string): number {
  const wanted = jsonPointer(stepsOfPointer(pointer))
  const containers: Container[] = []
  let isKeyNext = false
  let found = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const container = containers.at(-1)
    const isEnd = token === '}' || token === ']'
    if (isEnd) containers.pop()
    else if (token === ',' && typeof container?.step === 'number') container.step++
    else if (isKeyNext && container !== undefined) container.step = JSON.parse(token) as string
    if (!isEnd && token !== ',' && token !== ':') {
      const place = jsonPointer(containers.map(({ step }) => String(step)))
      if (`${wanted}/`.startsWith(`${place}/`)) found = isKeyNext || container?.isArray ? index : found
    }
    if (token === '{' || token === '[')
      containers.push({ isArray: token === '[', step: token === '[' ? 0 : '' })
    isKeyNext = token === '{' || (token === ',' && containers.at(-1)?.isArray === false)
  }
  return text.slice(0, found).split('\n').length
}
