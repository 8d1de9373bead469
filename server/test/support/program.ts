// The parts of the program that tests run in their own process. Tests load them on demand.
export { buildProgram } from '../../src/cli/program.ts'
export { reportError } from '../../src/cli/exit-code.ts'
export { startLines } from '../../src/cli/start-output.ts'
export { readConfig } from '../../src/config/settings.ts'
export { serve } from '../../src/runtime/service.ts'
export { describeLocation } from '../../src/store/location.ts'
