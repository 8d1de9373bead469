import { ActionIcon, AppShell, Box, Burger, Button, Group, Kbd, NavLink, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconArrowsExchange, IconLogout, IconSearch } from '../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { signOut } from '../session/requests.ts'
import { linkToEnvironment, otherEnvironment, useSession } from '../session/store.ts'
import classes from './app-layout.module.css'
import { CommandMenu } from './command-menu.tsx'
import { EnvironmentBadge } from './environment-badge.tsx'
import { navigation } from './navigation.ts'
import { focusSearch, useShortcuts } from './shortcuts.ts'
import { ThemeSwitch } from './theme-switch.tsx'
import { Wordmark } from './wordmark.tsx'

export function AppLayout() {
  const { api_environment_tag } = useSession()
  const [opened, { toggle, close }] = useDisclosure(false)
  const [isMenuOpen, menu] = useDisclosure(false)
  useShortcuts(menu.open)
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
        <Box maw={1280}>
          <Outlet />
        </Box>
      </AppShell.Main>
      {isMenuOpen && <CommandMenu onClose={menu.close} />}
    </AppShell>
  )
}

interface HeaderBarProps {
  /** True if the navigation is open on a narrow screen. */
  readonly opened: boolean
  readonly onToggle: () => void
}

function HeaderBar({ opened, onToggle }: HeaderBarProps) {
  const { workspace, api_environment_tag } = useSession()
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
      <Group gap="xs" wrap="nowrap" miw={0} className={classes.place}>
        <Text size="sm" truncate title={`Workspace ${workspace.name}`}>
          {workspace.name}
        </Text>
        <EnvironmentBadge environment={api_environment_tag} />
      </Group>
      <Group gap="xs" wrap="nowrap" className={classes.switches}>
        <EnvironmentSwitch />
        <ThemeSwitch />
      </Group>
      <div className={classes.signOut}>
        <SignOutButton />
      </div>
    </div>
  )
}

/** Switches this tab to the other environment. An edit or import in progress asks first, because another page is loaded. */
function EnvironmentSwitch() {
  const other = otherEnvironment(useSession().api_environment_tag)
  const { pathname, searchStr } = useLocation()
  // Only lists exist in each environment.
  const isList = navigation.some(({ to }) => to === pathname) && pathname !== '/import'
  const page = isList ? pathname + searchStr : '/user-groups'
  return (
    <ActionIcon
      component="a"
      href={linkToEnvironment(page, other)}
      variant="default"
      size="lg"
      aria-label={`Switch to ${other}`}
      title={`Switch to ${other}`}
    >
      <IconArrowsExchange size={16} aria-hidden />
    </ActionIcon>
  )
}

function Navigation({ onMenu }: { readonly onMenu: () => void }) {
  const { api_token } = useSession()
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
      {navigation.map(({ to, label, Icon }) => (
        <NavLink
          key={to}
          component={Link}
          to={to}
          label={label}
          leftSection={<Icon size={18} aria-hidden />}
          active={pathname.startsWith(to)}
          {...(pathname.startsWith(to) && { 'aria-current': 'page' as const })}
          className={classes.link}
        />
      ))}
      <Text size="xs" c="dimmed" mt="auto" p="xs">
        Signed in with the API token {api_token.name} ({api_token.id})
      </Text>
    </>
  )
}

function SignOutButton() {
  const { mutate, isPending } = useMutation({
    mutationFn: signOut,
    onError: ({ message }) => notifications.show({ color: 'red', title: 'You are still signed in', message }),
  })
  return (
    <Button
      variant="default"
      leftSection={<IconLogout size={16} aria-hidden />}
      onClick={() => mutate()}
      loading={isPending}
    >
      Sign out
    </Button>
  )
}
