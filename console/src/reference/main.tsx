import { renderPage } from '../root.tsx'
import { ReferencePage } from './reference-page.tsx'

renderPage(<ReferencePage />)
