import {
  Menu,
  Alert,
  Badge,
  createTheme,
  Modal,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

const teal: MantineColorsTuple = [
  '#e8f7f7',
  '#d2ebec',
  '#a4d6d8',
  '#72c1c4',
  '#4cafb3',
  '#34a3a8',
  '#2199a0',
  '#0c7f86',
  '#0b6e75',
  '#045a60',
]

export const theme = createTheme({
  colors: { teal },
  primaryColor: 'teal',
  // Dark enough for white text on it, and for text on white.
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  components: {
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 600 } }),
    // Rendered inside the landmark of its button, and without a placeholder, which is not allowed among menu items.
    Menu: Menu.extend({ defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        // A header outside of sections would be a second banner landmark.
        attributes: { header: { role: 'presentation' } },
      },
      styles: { title: { fontWeight: 650, overflowWrap: 'anywhere' } },
    }),
  },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.1rem' } } },
})

/** Mantine's default colors have too little contrast here (WCAG 2.2, 1.4.3). */
export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#596068',
    '--mantine-color-placeholder': '#6b7279',
    '--mantine-color-error': colors.red[9],
    '--mantine-color-anchor': teal[8],
    '--console-canvas': '#f6f8f8',
    '--console-border': '#dde3e4',
    '--console-hover': '#f3f7f7',
    '--console-before': '#fde6e6',
    '--console-after': '#dcf5e4',
    '--console-warning': '#fff4e3',
    '--console-warning-border': '#f0c38a',
    '--console-good': '#12753a',
    '--console-bad': '#a63a00',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b0b6',
    '--mantine-color-placeholder': '#8b9298',
    '--mantine-color-error': colors.red[4],
    '--mantine-color-anchor': teal[3],
    '--console-canvas': '#191b1d',
    '--console-border': '#3a3f44',
    '--console-hover': '#2c2f31',
    '--console-before': '#552a2d',
    '--console-after': '#1d4a30',
    '--console-warning': '#332a1e',
    '--console-warning-border': '#7a5a2a',
    '--console-good': '#69db7c',
    '--console-bad': '#ffa94d',
  },
})
