import type { DataSource, Schema } from '../../api/registry.ts'
import { RegisterDialog } from './register-dialog.tsx'
import { RemoveDialog } from './remove-dialog.tsx'

export type DialogState =
  | { readonly kind: 'register_schema'; readonly providedId?: string | undefined }
  | {
      readonly kind: 'register_data_source'
      readonly schema: Schema
      readonly providedId?: string | undefined
    }
  | { readonly kind: 'remove_schema'; readonly schema: Schema }
  | { readonly kind: 'remove_data_source'; readonly schema: Schema; readonly dataSource: DataSource }

export type OpenDialog = (dialog: DialogState) => void

export function Dialog({ state, onClose }: { readonly state: DialogState; readonly onClose: () => void }) {
  switch (state.kind) {
    case 'register_schema':
      return <RegisterDialog providedId={state.providedId} onClose={onClose} />
    case 'register_data_source':
      return <RegisterDialog schema={state.schema} providedId={state.providedId} onClose={onClose} />
    case 'remove_schema':
      return <RemoveDialog schema={state.schema} onClose={onClose} />
    case 'remove_data_source':
      return <RemoveDialog schema={state.schema} dataSource={state.dataSource} onClose={onClose} />
  }
}
