import { renderPage } from './root.tsx'
import { SessionGate } from './session/session-gate.tsx'

renderPage(<SessionGate />)
