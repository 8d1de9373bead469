import { Menu, type ButtonProps } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { loadFile, saveFile } from '../api/download.ts'
import type { Query } from '../api/request.ts'
import { ActionButton } from './action-button.tsx'
import { IconDownload } from './icons.tsx'
import { announce } from './toast.tsx'

const formats = [
  { format: 'csv', label: 'CSV, for a spreadsheet' },
  { format: 'ndjson', label: 'NDJSON, a line for each' },
]

interface Props extends Pick<ButtonProps, 'size'> {
  readonly label?: string
  /** Describes the exported rows. */
  readonly note: string
  readonly path: string
  readonly query?: Query
  /** Name of the file, without its extension. */
  readonly name: string
}

/** Saves a list of the service as a file. */
export function ExportMenu({ label = 'Export', note, path, query = {}, name, size = 'sm' }: Props) {
  const { mutate, isPending } = useMutation({
    mutationFn: async (format: string) =>
      saveFile(`${name}.${format}`, await loadFile(path, { ...query, format })),
    onError: ({ message }) => announce({ isError: true, title: 'Nothing was exported', message }),
  })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionButton
          variant="default"
          size={size}
          pending={isPending}
          leftSection={<IconDownload size={size === 'xs' ? 14 : 16} aria-hidden />}
        >
          {label}
        </ActionButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{note}</Menu.Label>
        {formats.map(({ format, label: text }) => (
          <Menu.Item key={format} onClick={() => mutate(format)}>
            {text}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
