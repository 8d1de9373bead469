import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Tool } from '../support/tool.ts'
import { runProgram } from './program.ts'

const clients = fileURLToPath(new URL('../../../clients/', import.meta.url))

export const goTool: Tool = {
  name: 'Go 1.19 or newer',
  hint: 'apt-get install golang-go',
  commands: ['go'],
  probe: ['version'],
}

export const javaTool: Tool = {
  name: 'A JDK 17 or newer',
  hint: 'apt-get install default-jdk-headless',
  commands: ['java'],
  probe: ['--describe-module', 'jdk.compiler'],
}

/** Options of Java with which a short run needs least CPU. */
export const shortRun = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

type Environment = Readonly<Record<string, string>>

/** Runs a Go program with the Go client in a new folder, and returns its standard output. */
export function runGo(folder: string, program: string, environment: Environment): Promise<string> {
  const name = 'user-group-service/clients/go'
  const module = `module backend\n\ngo 1.19\n\nrequire ${name} v0.0.0\n\nreplace ${name} => ${join(clients, 'go')}\n`
  writeFileSync(join(folder, 'go.mod'), module)
  writeFileSync(join(folder, 'main.go'), program)
  const run = ['-c', 'cd "$0" && exec go run .', folder]
  return runProgram('sh', run, '', { ...environment, GOPROXY: 'off', GOFLAGS: '-mod=mod' })
}

/** Runs a Java program with the Java client in a new folder, and returns its standard output. */
export async function runJava(folder: string, program: string, environment: Environment): Promise<string> {
  const [, name = ''] = /^public class (\w+)/m.exec(program) ?? []
  const file = join(folder, `${name}.java`)
  writeFileSync(file, program)
  const sources = join(clients, 'java/src/main/java/usergroupservice')
  const classes = join(folder, 'classes')
  mkdirSync(classes)
  const files = readdirSync(sources).map((source) => join(sources, source))
  const compiler = shortRun.map((option) => `-J${option}`)
  await runProgram('javac', [...compiler, '-encoding', 'UTF-8', '-d', classes, ...files])
  return runProgram('java', [...shortRun, '--class-path', classes, file], '', environment)
}
