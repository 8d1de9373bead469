import { Button, Menu, TextInput } from '@mantine/core'
import { useState } from 'react'
import { invalidInput, type ApiError } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { IconBookmark } from '../../components/icons.tsx'
import { isSameSearch, readSearch, type UserGroupSearch } from './search.ts'

interface Saved {
  readonly name: string
  readonly search: UserGroupSearch
}

const key = 'console-saved-searches'

function readSaved(): readonly Saved[] {
  try {
    const all = JSON.parse(localStorage.getItem(key) ?? '[]') as readonly { name: string; search: object }[]
    return all.map(({ name, search }) => ({ name, search: readSearch({ ...search }) }))
  } catch {
    return []
  }
}

interface Props {
  readonly search: UserGroupSearch
  readonly onSearch: (search: UserGroupSearch) => void
}

/** Keeps searches under names in the browser. */
export function SavedSearches({ search, onSearch }: Props) {
  const [saved, setSaved] = useState(readSaved)
  const [isNaming, setIsNaming] = useState(false)
  const current = saved.find((one) => isSameSearch(one.search, search))
  const save = (next: readonly Saved[]) => {
    localStorage.setItem(key, JSON.stringify(next))
    setSaved(next)
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
            {current?.name ?? 'Saved'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.map((one) => (
            <Menu.Item key={one.name} onClick={() => onSearch(one.search)}>
              {one.name}
            </Menu.Item>
          ))}
          {saved.length > 0 && <Menu.Divider />}
          {current === undefined ? (
            <Menu.Item disabled={isSameSearch(search, {})} onClick={() => setIsNaming(true)}>
              Save this search
            </Menu.Item>
          ) : (
            <Menu.Item onClick={() => save(saved.filter((one) => one !== current))}>
              Remove “{current.name}”
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isNaming && (
        <NameDialog
          onName={(name) => save([...saved.filter((one) => one.name !== name), { name, search }])}
          onClose={() => setIsNaming(false)}
        />
      )}
    </>
  )
}

interface NameProps {
  readonly onName: (name: string) => void
  readonly onClose: () => void
}

function NameDialog({ onName, onClose }: NameProps) {
  const [name, setName] = useState('')
  const [error, setError] = useState<ApiError | null>(null)
  return (
    <FormDialog
      title="Save this search"
      action="Save"
      pending={false}
      error={error}
      onSubmit={() => {
        if (name.trim() === '')
          return setError(invalidInput([{ path: '/name', message: 'must not be empty' }]))
        onName(name.trim())
        onClose()
      }}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="It is kept in this browser."
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldMessage(error, '/name')}
        maxLength={60}
        autoComplete="off"
      />
    </FormDialog>
  )
}
