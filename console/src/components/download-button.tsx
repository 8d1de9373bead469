import { useMutation } from '@tanstack/react-query'
import { saveFile } from '../api/download.ts'
import { ActionButton } from './action-button.tsx'
import { IconDownload } from './icons.tsx'
import { announce } from './toast.tsx'

interface Props {
  /** Name of the file. */
  readonly name: string
  readonly label: string
  readonly load: () => Promise<Blob>
}

/** Loads a file and saves it. */
export function DownloadButton({ name, label, load }: Props) {
  const { mutate, isPending } = useMutation({
    mutationFn: async () => saveFile(name, await load()),
    onError: ({ message }) => announce({ isError: true, title: `${name} was not saved`, message }),
  })
  return (
    <ActionButton
      size="xs"
      variant="default"
      leftSection={<IconDownload size={14} aria-hidden />}
      pending={isPending}
      onClick={() => mutate()}
    >
      {label}
    </ActionButton>
  )
}
