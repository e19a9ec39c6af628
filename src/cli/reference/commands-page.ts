/** The command line, from the program itself: every command with its arguments and options, and the examples of --help. */
import type { Command } from 'commander'
import { MODULES } from '../../modules.ts'
import type { Module } from '../../runtime/module/module.ts'
import type { Machine } from '../machine.ts'
import { buildProgram, EXAMPLES } from '../program.ts'
import { code, type Page, page, table } from './markdown.ts'

export function commandsPage(modules: readonly Module[] = MODULES): Page {
  // Only read, never run: no command uses the machine.
  const program = buildProgram({} as Machine, modules)
  const intro = `${program.description()} Every command also has \`--help\`; it ends with code 0 when it did what it says, and 1 with a sentence on stderr when not.`
  return page('cli', { title: 'Command line', from: 'src/cli/program.ts', intro }, [
    table(
      ['command', 'what it does'],
      program.commands.map((command) => [
        `[${code(`sluice ${command.name()}`)}](#sluice-${command.name()})`,
        sentence(command.description()),
      ]),
    ),
    ...program.commands.map(commandSection),
    `## Examples\n\n\`\`\`\n${EXAMPLES.trim().split('\n').slice(1).map(unindented).join('\n')}\n\`\`\``,
  ])
}

function commandSection(command: Command): string {
  const words = ['sluice', command.name(), command.usage()].join(' ')
  const parts = [`## sluice ${command.name()}`, sentence(command.description()), `\`\`\`\n${words}\n\`\`\``]
  const given = [
    ...command.registeredArguments.map((argument) => [code(`<${argument.name()}>`), argument.description, 'required']),
    ...command.options.map((option) => [code(option.flags), ...meaning(option.description), option.mandatory ? 'required' : '']),
  ]
  const rows = given.map(([what = '', about = '', fallback = '', need = '']) => [what, about, fallback || need])
  if (rows.length > 0) parts.push(table(['argument or option', 'meaning', 'default'], rows))
  return parts.join('\n\n')
}

/** Splits `text (default x)` in two: defaults that depend on the data directory are described in words. */
function meaning(description: string): [about: string, fallback: string] {
  const [, about = description, fallback = ''] = /^(.*?) \(default ([^)]*)\)$/.exec(description) ?? []
  return [about, fallback]
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const unindented = (line: string): string => line.replace(/^ {2}/, '')
