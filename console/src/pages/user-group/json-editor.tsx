import { Input } from '@mantine/core'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { Annotation, Compartment, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap } from '@codemirror/view'
import { useEffect, useId, useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react'
import { nonce } from '../../nonce.ts'
import classes from './json-editor.module.css'

interface Props {
  /** Accessible name. */
  readonly label: string
  readonly value: string
  readonly error: ReactNode
  readonly onChange: (text: string) => void
}

const fromOutside = Annotation.define<true>()
const attributes = new Compartment()

/** Edits JSON of any length: only the visible lines are rendered. Tab leaves it. */
export default function JsonEditor({ label, value, error, onChange }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const errorId = useId()
  const isInvalid = error !== undefined
  const view = useEditor(place, onChange)
  useLayoutEffect(() => {
    view.current?.dispatch({
      effects: attributes.reconfigure(
        EditorView.contentAttributes.of({
          'aria-label': label,
          spellcheck: 'false',
          ...(isInvalid && { 'aria-invalid': 'true', 'aria-describedby': errorId }),
        }),
      ),
    })
  }, [view, label, isInvalid, errorId])
  useLayoutEffect(() => {
    const doc = view.current?.state.doc
    if (doc === undefined || doc.toString() === value) return
    view.current?.dispatch({
      changes: { from: 0, to: doc.length, insert: value },
      annotations: fromOutside.of(true),
    })
  }, [view, value])
  return (
    <Input.Wrapper error={error} errorProps={{ id: errorId }}>
      <div ref={place} className={classes.editor} />
    </Input.Wrapper>
  )
}

/** Creates the editor in its place, once. */
function useEditor(place: RefObject<HTMLElement | null>, onChange: Props['onChange']) {
  const view = useRef<EditorView>(null)
  const report = useRef(onChange)
  useEffect(() => {
    report.current = onChange
  }, [onChange])
  useLayoutEffect(() => {
    const created = new EditorView({
      ...(place.current !== null && { parent: place.current }),
      extensions: [
        extensions,
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          if (docChanged && !transactions.some((one) => one.annotation(fromOutside)))
            report.current(state.doc.toString())
        }),
      ],
    })
    view.current = created
    return () => created.destroy()
  }, [place])
  return view
}

const extensions: Extension = [
  EditorView.cspNonce.of(nonce),
  attributes.of([]),
  json(),
  history(),
  indentOnInput(),
  highlightSpecialChars(),
  bracketMatching(),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, color: 'var(--mantine-color-anchor)' },
      { tag: tags.string, color: 'var(--console-good)' },
      { tag: [tags.number, tags.bool, tags.null], color: 'var(--console-bad)' },
    ]),
  ),
  keymap.of([...defaultKeymap, ...historyKeymap]),
  EditorView.lineWrapping,
]
