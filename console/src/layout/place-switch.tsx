import { Button, Group, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { EnvironmentBadge } from '../components/environment-badge.tsx'
import { IconArrowsExchange } from '../components/icons.tsx'
import { readSessions } from '../session/requests.ts'
import { linkToPlace, otherEnvironment, placeOf, useSession, type Session } from '../session/store.ts'
import classes from './app-layout.module.css'
import { navigation } from './navigation.ts'

/**
 * Shows where this tab works, and switches it to another environment or workspace. An edit or import in progress asks first, because
 * another page is loaded.
 */
export function PlaceSwitch() {
  const session = useSession()
  const [isOpen, setOpen] = useState(false)
  const { data = [] } = useQuery({ queryKey: ['sessions'], queryFn: readSessions, enabled: isOpen })
  const { pathname, searchStr } = useLocation()
  // Only lists exist in each environment.
  const isList = navigation.some(({ to }) => to === pathname) && pathname !== '/import'
  const page = isList ? pathname + searchStr : '/user-groups'
  return (
    <Menu position="bottom-end" opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <Button
          variant="default"
          className={classes.place}
          title="Switch the environment or workspace"
          rightSection={<IconArrowsExchange size={16} aria-hidden />}
        >
          <Group component="span" gap="xs" wrap="nowrap" miw={0}>
            <Text span size="sm" truncate>
              {session.workspace.name}
            </Text>
            <EnvironmentBadge environment={session.api_environment_tag} />
          </Group>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Switch to</Menu.Label>
        {targetsOf(session, data).map(({ place, environment, workspace, note }) => (
          <Menu.Item key={place} component="a" href={linkToPlace(page, place)} rightSection={note}>
            <Group component="span" gap="xs" wrap="nowrap">
              <EnvironmentBadge environment={environment} />
              {workspace}
            </Group>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Returns the other places in which the browser is signed in, and the one to which somebody with an API token can sign in. */
function targetsOf(current: Session, sessions: readonly Session[]) {
  const others = sessions
    .filter((session) => placeOf(session) !== placeOf(current))
    .map((session) => ({
      place: placeOf(session),
      environment: session.api_environment_tag,
      workspace: session.workspace.name,
      note: session.role,
    }))
  const environment = otherEnvironment(current.api_environment_tag)
  const place = placeOf(current, environment)
  if (current.api_token === null || others.some((other) => other.place === place)) return others
  return [{ place, environment, workspace: current.workspace.name, note: undefined }, ...others]
}
