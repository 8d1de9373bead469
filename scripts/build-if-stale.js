import { buildIfStale } from './current-build.js'

buildIfStale()
