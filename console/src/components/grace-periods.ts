/** Choices for the end of a replaced token. */
export const gracePeriods = [
  { seconds: 0, label: 'At once', text: 'Choose this if the token leaked.' },
  { seconds: 600, label: 'After 10 minutes', text: '' },
  { seconds: 3600, label: 'After an hour', text: '' },
  { seconds: 86_400, label: 'After a day', text: '' },
  { seconds: 604_800, label: 'After 7 days', text: '' },
]
