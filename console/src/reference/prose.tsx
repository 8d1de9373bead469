import { Code, Text } from '@mantine/core'

/** Shows the paragraphs of a description, with `code`. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('\n\n').map((paragraph, i) => (
    <Text key={i} size="sm" maw="80ch">
      {paragraph
        .split('`')
        .map((part, position) => (position % 2 === 1 ? <Code key={position}>{part}</Code> : part))}
    </Text>
  ))
}
