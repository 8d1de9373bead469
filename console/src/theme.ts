import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

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
  // Dark enough to read white text on it, and to be read on white.
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.1rem' } } },
})

/** Where Mantine's own colours are too pale to read (WCAG 2.2, 1.4.3). */
export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#596068',
    '--mantine-color-placeholder': '#6b7279',
    '--mantine-color-error': colors.red[9],
    '--mantine-color-anchor': teal[8],
    '--console-canvas': '#f6f8f8',
    '--console-border': '#dde3e4',
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
    '--console-good': '#69db7c',
    '--console-bad': '#ffa94d',
  },
})
