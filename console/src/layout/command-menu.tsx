import { Text, TextInput } from '@mantine/core'
import { Fragment, useId, useState, type KeyboardEvent } from 'react'
import { CustomerText } from '../components/customer-text.tsx'
import { Dialog } from '../components/dialog.tsx'
import { IconSearch } from '../components/icons.tsx'
import { useMay } from '../session/permissions.tsx'
import classes from './command-menu.module.css'
import { useCommands, type Asked, type Command } from './commands.ts'

interface Props {
  readonly onAsk: (asked: Asked) => void
  readonly onClose: () => void
}

/** Goes to pages, actions and user groups by typing. Open while mounted. */
export function CommandMenu({ onAsk, onClose }: Props) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const may = useMay()
  const { commands, problem } = useCommands(text, onAsk)
  const id = useId()
  const active = Math.min(chosen, commands.length - 1)
  const run = ({ run: start }: Command) => {
    onClose()
    start()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const command = commands[active]
    if (event.key === 'Enter' && command !== undefined) run(command)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || commands.length === 0) return
    event.preventDefault()
    const next = (active + step + commands.length) % commands.length
    setChosen(next)
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <Dialog onClose={onClose} title="Go to" centered={false} yOffset="10vh">
      <TextInput
        role="combobox"
        aria-label="A page, an action or a user group"
        aria-expanded={commands.length > 0}
        aria-controls={`${id}-list`}
        {...(commands.length > 0 && { 'aria-activedescendant': `${id}-${active}` })}
        aria-autocomplete="list"
        placeholder={`A page, an action, a customer${may('createJob') ? ', or “rotate” and a customer' : ''}`}
        data-autofocus
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        maxLength={255}
      />
      <Text size="sm" c="dimmed" pt="xs" role="status">
        {problem ?? (commands.length === 0 ? 'Nothing found' : '')}
      </Text>
      <Options id={id} commands={commands} active={active} onChoose={setChosen} onRun={run} />
    </Dialog>
  )
}

interface OptionsProps {
  /** Prefix of the element ids. */
  readonly id: string
  readonly commands: readonly Command[]
  readonly active: number
  readonly onChoose: (index: number) => void
  readonly onRun: (command: Command) => void
}

function Options({ id, commands, active, onChoose, onRun }: OptionsProps) {
  return (
    <div role="listbox" id={`${id}-list`} aria-label="Found" className={classes.options}>
      {commands.map((command, i) => (
        <Fragment key={`${command.group} ${command.hint ?? ''} ${command.label}`}>
          {command.group !== commands[i - 1]?.group && (
            <Text size="xs" c="dimmed" className={classes.group ?? ''} role="presentation">
              {command.group}
            </Text>
          )}
          <div
            role="option"
            id={`${id}-${i}`}
            aria-selected={i === active}
            className={classes.option}
            onClick={() => onRun(command)}
            onPointerMove={() => onChoose(i)}
          >
            <span>
              <CustomerText>{command.label}</CustomerText>
            </span>
            {command.hint !== undefined && (
              <span className={classes.hint}>
                <CustomerText>{command.hint}</CustomerText>
              </span>
            )}
          </div>
        </Fragment>
      ))}
    </div>
  )
}
