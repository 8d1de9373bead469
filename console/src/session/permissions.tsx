import type { ReactNode } from 'react'
import { operationScopes } from './operation-scopes.ts'
import { roles, useSession } from './store.ts'

export type Operation = keyof typeof operationScopes

/** Operations that are the purpose of a page, by the path of its route. */
export const operationOfPage: Readonly<Record<string, Operation>> = {
  '/user-groups/new': 'createUserGroup',
  '/user-groups/$teamId/edit': 'patchUserGroup',
  '/leaked-token': 'reportLeakedToken',
  '/promotion': 'promoteUserGroups',
  '/import': 'importUserGroups',
}

/** Returns a function that says whether the session permits an operation. Every session permits `undefined`. */
export function useMay(): (operation: Operation | undefined) => boolean {
  const { role } = useSession()
  return (operation) =>
    operation === undefined || roles.indexOf(role) >= roles.indexOf(operationScopes[operation])
}

/** Returns the sentence to show in place of an operation, or undefined if the session permits it. */
export function useRefusal(operation: Operation | undefined): string | undefined {
  const { role } = useSession()
  const may = useMay()
  if (operation === undefined || may(operation)) return undefined
  return `Your role, ${role}, does not permit this. Ask somebody with the role ${operationScopes[operation]}.`
}

interface Props {
  readonly to: Operation
  readonly children: ReactNode
}

/** Shows its children only if the session permits an operation. */
export function Allowed({ to: operation, children }: Props) {
  return useMay()(operation) && children
}
