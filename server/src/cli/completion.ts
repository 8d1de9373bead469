import { Argument, type Command, type Option } from 'commander'
import { printLine } from './output.ts'

/** A command with everything that can follow it. */
interface Place {
  /** Names of the commands, each after a space; empty for `ugs` itself. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly (Word & {
    /** Values of the option; empty if it takes any value, undefined if none. */
    readonly values: readonly string[] | undefined
  })[]
  /** Values of the arguments. */
  readonly values: readonly string[]
}

interface Word {
  readonly name: string
  readonly description: string
}

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options in your shell.')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
  bash  source <(ugs completion bash)                                  in ~/.bashrc
  zsh   autoload -U compinit && compinit; source <(ugs completion zsh)  in ~/.zshrc
  fish  ugs completion fish > ~/.config/fish/completions/ugs.fish`,
    )
    .action((shell: Shell) => printLine(completionScript(program, shell)))
}

type Shell = keyof typeof scripts

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Returns the script for a shell. It contains all commands, so that a completion does not start `ugs`. */
export function completionScript(program: Command, shell: Shell): string {
  return scripts[shell](placesOf(program, ''))
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const place = {
    path,
    commands: commands.map((inner) => ({ name: inner.name(), description: inner.description() })),
    options: help.visibleOptions(command).map(describedOption),
    values: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }
  return [place, ...commands.flatMap((inner) => placesOf(inner, `${path} ${inner.name()}`))]
}

function describedOption({ long, description, argChoices = [], required, optional }: Option) {
  return { name: long as string, description, values: required || optional ? argChoices : undefined }
}

function bashScript(places: readonly Place[]): string {
  const paths = places.slice(1).map(({ path }) => `"${path}"`)
  const values = places.flatMap(({ path, options }) =>
    options.flatMap(({ name, values }) =>
      values === undefined ? [] : [`    "${path} ${name}") offered="${values.join(' ')}" ;;`],
    ),
  )
  const words = places.map(({ path, commands, options, values }) => {
    const names = [...commands, ...options].map(({ name }) => name)
    return `    "${path} "*) offered="${[...values, ...names].join(' ')}" ;;`
  })
  // A longer path first, because a pattern matches everything that begins with its path.
  return `_ugs() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at= word offered=
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$at $word" in
      ${paths.join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $previous" in
${[...values, ...words.reverse()].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _ugs ugs`
}

function zshScript(places: readonly Place[]): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`
}

function fishScript(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
  const lines = places.flatMap(({ path, commands, options, values }) => {
    const at = `complete -c ugs -n ${quoted(`__ugs_at "${path}"`)}`
    return [
      ...commands.map(({ name, description }) => `${at} -f -a ${name} -d ${quoted(description)}`),
      ...values.map((value) => `${at} -f -a ${value}`),
      ...options.map(({ name, description, values }) => {
        const taken =
          values === undefined ? '' : values.length === 0 ? ' -r' : ` -x -a ${quoted(values.join(' '))}`
        return `${at} -l ${name.slice(2)}${taken} -d ${quoted(description)}`
      }),
    ]
  })
  return `function __ugs_at
  set -l at
  for word in (commandline -opc)[2..-1]
    contains -- "$at $word" ${places
      .slice(1)
      .map(({ path }) => quoted(path))
      .join(' ')}; and set at "$at $word"
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}`
}
