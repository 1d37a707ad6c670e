import { createTheme, Notification, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** Blue grays look calmer than neutral grays on large dark surfaces. */
const dark: MantineColorsTuple = [
  '#d5d9e0',
  '#b3bac5',
  '#939ca9',
  '#69727f',
  '#3f4652',
  '#333a45',
  '#272d36',
  '#171b21',
  '#12151a',
  '#0d1013',
];

const brand: MantineColorsTuple = [
  '#eef0ff',
  '#dcdffa',
  '#b6bcf0',
  '#8e97e7',
  '#6d78df',
  '#5864da',
  '#4c59d0',
  '#4450b8',
  '#3a45a3',
  '#2f398c',
];

/** A dense theme. It uses system fonts so that the page loads no fonts. */
export const theme = createTheme({
  // By default, Mantine ignores that a person prefers no animations. Texts have too little contrast while they fade.
  respectReducedMotion: true,
  colors: { dark, brand },
  primaryColor: 'brand',
  primaryShade: { light: 6, dark: 5 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  components: {
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      styles: { description: { color: 'var(--mantine-color-dimmed)' } },
    }),
  },
  headings: { fontWeight: '600', sizes: { h3: { fontSize: '1.125rem' }, h4: { fontSize: '0.9375rem' } } },
});

/** The library's grays, and its link color in the dark theme, are too faint for small text (WCAG 2.2 §1.4.3). Replace them. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a626d',
    '--mantine-color-placeholder': '#6b737e',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-red-outline': '#c92a2a',
    '--console-surface': '#f7f8fa',
    '--console-line': '#e4e7ec',
    '--console-hover': '#f1f3f6',
    '--console-selected': '#e9ebfb',
    '--console-simulation': '#fdecd8',
    '--console-simulation-text': '#8a4200',
  },
  dark: {
    '--mantine-color-dimmed': '#9ba4b1',
    '--mantine-color-placeholder': '#8993a1',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-anchor': brand[3],
    '--console-surface': '#12151a',
    '--console-line': '#272d36',
    '--console-hover': '#1e232b',
    '--console-selected': '#262c4a',
    '--console-simulation': '#43290f',
    '--console-simulation-text': '#ffc078',
  },
});
