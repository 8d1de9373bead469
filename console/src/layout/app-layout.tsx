import { AppShell, Box, Burger, Button, Group, Kbd, NavLink, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ActionButton } from '../components/action-button.tsx'
import { IconLogout, IconSearch } from '../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { operationOfPage, useMay } from '../session/permissions.tsx'
import { signOut } from '../session/requests.ts'
import { useSession } from '../session/store.ts'
import { JobOfAddress } from '../pages/jobs/job-dialog.tsx'
import classes from './app-layout.module.css'
import { AskedDialog } from './asked-dialog.tsx'
import { CommandMenu } from './command-menu.tsx'
import type { Asked } from './commands.ts'
import { announce, Toast } from '../components/toast.tsx'
import { useKeptFocus } from './kept-focus.ts'
import { isWithin, navigation } from './navigation.ts'
import { PermittedPage } from './permitted-page.tsx'
import { PlaceSwitch } from './place-switch.tsx'
import { focusSearch, useShortcuts } from './shortcuts.ts'
import { ThemeSwitch } from './theme-switch.tsx'
import { Wordmark } from './wordmark.tsx'

export function AppLayout() {
  const { api_environment_tag } = useSession()
  const [opened, { toggle, close }] = useDisclosure(false)
  const [isMenuOpen, menu] = useDisclosure(false)
  const [asked, setAsked] = useState<Asked>()
  useShortcuts(menu.open)
  useKeptFocus()
  const { pathname } = useLocation()
  useEffect(close, [pathname, close])
  return (
    <AppShell
      header={{ height: { base: 96, sm: 60 } }}
      navbar={{ width: 230, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
      data-environment={api_environment_tag}
    >
      <a href="#main" className={classes.skip}>
        Skip to the content
      </a>
      <button type="button" className={classes.skip} onClick={() => focusSearch() || menu.open()}>
        Skip to the search
      </button>
      <AppShell.Header className={classes.header} data-environment={api_environment_tag}>
        <HeaderBar opened={opened} onToggle={toggle} />
      </AppShell.Header>
      <AppShell.Navbar p="xs" id="navigation" aria-label="Main" className={classes.navbar}>
        <Navigation onMenu={menu.open} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} className={classes.main}>
        <Box maw={1600}>
          <Toast />
          <PermittedPage>
            <Outlet />
          </PermittedPage>
        </Box>
      </AppShell.Main>
      <JobOfAddress />
      {isMenuOpen && <CommandMenu onAsk={setAsked} onClose={menu.close} />}
      {asked !== undefined && <AskedDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </AppShell>
  )
}

interface HeaderBarProps {
  /** True if the navigation is open on a narrow screen. */
  readonly opened: boolean
  readonly onToggle: () => void
}

function HeaderBar({ opened, onToggle }: HeaderBarProps) {
  return (
    <div className={classes.bar}>
      <Group gap="xs" wrap="nowrap" className={classes.brand}>
        <Burger
          opened={opened}
          onClick={onToggle}
          hiddenFrom="sm"
          size="sm"
          aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
          aria-expanded={opened}
          aria-controls="navigation"
        />
        <Wordmark />
      </Group>
      <PlaceSwitch />
      <div className={classes.switches}>
        <ThemeSwitch />
      </div>
      <div className={classes.signOut}>
        <SignOutButton />
      </div>
    </div>
  )
}

function Navigation({ onMenu }: { readonly onMenu: () => void }) {
  const { api_token, person, role } = useSession()
  const may = useMay()
  const { pathname } = useLocation()
  return (
    <>
      <Button
        variant="default"
        justify="space-between"
        mb="xs"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<Kbd size="xs">Ctrl K</Kbd>}
        aria-keyshortcuts="Control+K"
        onClick={onMenu}
      >
        Go to
      </Button>
      {navigation
        .filter(({ to }) => may(operationOfPage[to]))
        .map(({ to, label, Icon }) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            leftSection={<Icon size={18} aria-hidden />}
            active={isWithin(pathname, to)}
            {...(isWithin(pathname, to) && { 'aria-current': 'page' as const })}
            className={classes.link}
          />
        ))}
      <Text size="xs" c="dimmed" mt="auto" p="xs">
        {api_token === null
          ? `Signed in as ${person?.name} (${role})`
          : `Signed in with the API token ${api_token.name} (${api_token.id})`}
      </Text>
    </>
  )
}

function SignOutButton() {
  const { mutate, isPending } = useMutation({
    mutationFn: signOut,
    onError: ({ message }) => announce({ isError: true, title: 'You are still signed in', message }),
  })
  return (
    <ActionButton
      variant="default"
      leftSection={<IconLogout size={16} aria-hidden />}
      onClick={() => mutate()}
      pending={isPending}
    >
      Sign out
    </ActionButton>
  )
}
