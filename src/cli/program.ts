/**
 * The command line: its commands, their usage, and the messages for wrong usage. Each command is loaded when it is called,
 * so that none pays for the packages of another.
 */
import { Command, CommanderError } from 'commander'
import type { Module } from '../runtime/module/module.ts'
import { withLog } from './log-lines.ts'
import { CommandError, type Machine } from './machine.ts'
import { declareFlags } from './module-flags.ts'
import { explainSystemError } from './system-error.ts'

export const EXAMPLES = `
Examples:
  sluice up                          hub and 3 members here, data in ./.sluice; Ctrl-C stops it
  sluice up --detach                 the same in the background
  export KUBECONFIG=.sluice/kubeconfig
  kubectl get ns                     the hub
  kubectl --context member1 get ns   a member
  sluice backup before-upgrade.bak   a copy of everything, while it runs
  sluice down                        stops what --detach started
`

export async function runCommand(machine: Machine, args: readonly string[]): Promise<number> {
  const program = buildProgram(machine, await modulesFor(args))
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (thrown) {
    const error = explainSystemError(thrown)
    if (error instanceof CommanderError) return error.exitCode
    if (error instanceof CommandError) {
      machine.err(`sluice: ${error.message}\n`)
      return 1
    }
    machine.err(`sluice: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`)
    return 1
  }
}

/** Modules add flags to these commands; any other command, --help and --version do not wait until the modules are loaded. */
const WITH_MODULE_FLAGS = ['up', 'controllers', 'help']

const modulesFor = async ([command = '']: readonly string[]): Promise<readonly Module[]> =>
  WITH_MODULE_FLAGS.includes(command) ? (await import('../modules.ts')).MODULES : []

const storyNames = (modules: readonly Module[]): string => modules.flatMap(({ chapters }) => chapters.map(({ name }) => name)).join(', ')

/** All commands with their arguments and options; nothing runs before parsing. */
export function buildProgram(machine: Machine, modules: readonly Module[]): Command {
  const program = new Command('sluice')
    .description('One control plane that makes data and compute meet across Kubernetes namespaces and clusters.')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(sluice --help shows what there is)')
    .configureOutput({ writeOut: (text) => machine.out(text), writeErr: (text) => machine.err(text) })
    .exitOverride()
  const dataDirFlag = '--data-dir <dir>'
  const dataDirText = 'where everything is kept (default ./.sluice)'

  const up = program
    .command('up')
    .description('start the hub and its member clusters on this machine')
    .option(dataDirFlag, dataDirText)
    .option(
      '--port <port>',
      'port of the hub; members take the ports after it; 0 picks free ones (default 7443; ports of before are kept while they are free)',
    )
    .option('--members <n>', 'how many member clusters (default 3; fixed once the directory exists)')
    .option('--bare', 'serve the APIs alone: no controllers, no ServiceAccount admission, as a bare kube-apiserver')
    .option('--member-transport <way>', 'how the hub reaches its own members: in-process or http, which is TLS (default in-process)')
    .option('--log-format <format>', 'of what goes wrong while it runs: text or json (default text)')
    .option('--log-level <level>', 'debug, info, warn or error (default warn)')
    .option('--detach', 'go to the background and return when everything answers')
    .option('--story <name>', `tell a story after the start: ${storyNames(modules)} (default: on a new directory)`)
    .option('--quiet', 'tell no story')
    .option('--exit', 'end when the story was told, with 0 only when all of it was seen to be true')
    .action(async (options) => (await import('./commands/up.ts')).up(withLog(machine, { logLevel: 'warn', ...options }), options))
  const controllers = program
    .command('controllers')
    .description('run the controllers of a role against any API server, an embedded one or a real kube-apiserver')
    .requiredOption('--role <role>', 'hub or member')
    .option('--kubeconfig <file>', 'how to reach the server (default $KUBECONFIG, then ./.sluice/kubeconfig, then the pod it runs in)')
    .option('--context <name>', 'context of that file (default its current one)')
    .option('--lease-namespace <name>', 'where the lease of the leading process is (default kube-system)')
    .option('--health-address <host:port>', '/healthz, /readyz and /metrics (default 127.0.0.1:0, a free port)')
    .option('--webhook-address <host:port>', 'where admission and conversion webhooks listen (default 127.0.0.1:0, a free port)')
    .option('--webhook-url <url>', 'how the API server reaches them (default https://127.0.0.1 and the port)')
    .option('--log-format <format>', 'text or json (default text)')
    .option('--log-level <level>', 'debug, info, warn or error (default info)')
    .action(async (options) => (await import('./commands/controllers.ts')).controllers(withLog(machine, options), options))
  declareFlags(up, 'up', modules)
  declareFlags(controllers, 'controllers', modules)
  const kubeconfigText = 'how to reach the hub (default $KUBECONFIG, then ./.sluice/kubeconfig, then the pod it runs in)'
  const contextText = 'context of that file (default its current one)'
  program
    .command('why')
    .description('explain why something is where it is: template, policy, binding, each cluster, and the one thing to do')
    .argument('<object...>', 'deployment/web, or deployment web')
    .option('-n, --namespace <name>', 'namespace of the object (default the one of the context)')
    .option('--kubeconfig <file>', kubeconfigText)
    .option('--context <name>', contextText)
    .option('-o, --output <format>', 'json or yaml')
    .action(async (words, options) => (await import('./commands/why.ts')).why(machine, words, options))
  program
    .command('get')
    .description('list objects of all clusters in one table')
    .argument('<resource...>', 'deploy, deploy web, or deploy/web')
    .option('-n, --namespace <name>', 'namespace of the objects (default the one of the context)')
    .option('-A, --all-namespaces', 'in every namespace')
    .option('-l, --selector <labels>', 'only objects with these labels, as app=web')
    .option('--clusters <names>', 'only these clusters, as member1,member2 (default all)')
    .option('--kubeconfig <file>', kubeconfigText)
    .option('--context <name>', contextText)
    .option('-o, --output <format>', 'wide, json or yaml')
    .action(async (words, options) => (await import('./commands/get.ts')).get(machine, words, options))
  const cluster = program.command('cluster').description('cut a member of a running `up` off, and bring it back')
  for (const [verb, text] of [
    ['stop', 'cut a member off, as if its network had failed; its pods go on running'],
    ['start', 'bring it back'],
  ] as const)
    cluster
      .command(verb)
      .description(text)
      .argument('<name>', 'the member')
      .option(dataDirFlag, dataDirText)
      .action(async (name, options) => (await import('./commands/cluster.ts')).cluster(machine, verb, name, options))
  const hubFlag = '--kubeconfig <file>'
  const hubText = 'how to reach the hub (default $KUBECONFIG, then ./.sluice/kubeconfig)'
  program
    .command('join')
    .description('make any cluster a member of the fleet')
    .argument('<name>', 'what it is to be called')
    .requiredOption('--cluster-kubeconfig <file>', 'how to reach the cluster, as an administrator')
    .option('--cluster-context <name>', 'context of that file (default its current one)')
    .option('--cluster-namespace <name>', 'where credentials are kept, here and there (default karmada-cluster)')
    .option('--cluster-provider <name>', 'whose cluster it is')
    .option('--cluster-region <name>', 'the region it stands in')
    .option('--cluster-zones <names>', 'the zones it stands in, with commas')
    .option(hubFlag, hubText)
    .option('--context <name>', 'context of that file (default its current one)')
    .option('--dry-run', 'say what would be made, and make nothing')
    .action(async (name, options) => (await import('./commands/join.ts')).join(machine, name, options))
  program
    .command('unjoin')
    .description('take a cluster out of the fleet')
    .argument('<name>', 'the cluster')
    .option('--cluster-kubeconfig <file>', 'how to reach the cluster, to remove there what joining made')
    .option('--cluster-context <name>', 'context of that file (default its current one)')
    .option('--cluster-namespace <name>', 'where credentials are kept there (default karmada-cluster)')
    .option('--wait <seconds>', 'how long it may take to move everything away (default 60)')
    .option('--force', 'let go of it after that time, whatever stays in it')
    .option(hubFlag, hubText)
    .option('--context <name>', 'context of that file (default its current one)')
    .option('--dry-run', 'only look')
    .action(async (name, options) => (await import('./commands/unjoin.ts')).unjoin(machine, name, options))
  program
    .command('down')
    .description('stop what runs on a data directory')
    .option(dataDirFlag, dataDirText)
    .action(async (options) => (await import('./commands/down.ts')).down(machine, options))
  program
    .command('backup')
    .description('write a copy of everything to a file, while it runs or not')
    .argument('<file>', 'the new file')
    .option(dataDirFlag, dataDirText)
    .action(async (file, options) => (await import('./commands/backup.ts')).backupCommand(machine, file, options))
  program
    .command('restore')
    .description('make a new data directory from a backup; revisions jump ahead, so that clients notice')
    .argument('<file>', 'a file that `sluice backup` wrote')
    .requiredOption('--data-dir <new>', 'the directory to make')
    .action(async (file, options) => (await import('./commands/restore.ts')).restore(machine, file, options))
  program
    .command('repair')
    .description('mend a store that a start refuses as damaged: keeps everything readable and the damaged files beside it')
    .option(dataDirFlag, dataDirText)
    .action(async (options) => (await import('./commands/repair.ts')).repair(machine, options))
  program
    .command('cache')
    .description("run a program of the builtin cache, as its pods do; what it needs is in the pod's environment")
    .argument(
      '<program>',
      'master, worker, client, mount-ufs, report-summary, preload, clear, load, migrate, backup, restore, decommission or recommission',
    )
    .argument('[pod]', 'the worker that decommission and recommission are about')
    .action(async (name, pod) => (await import('./commands/cache.ts')).cache(machine, pod === undefined ? [name] : [name, pod]))
  program
    .command('version')
    .description('what this is, and which Kubernetes it speaks')
    .option('-o, --output <format>', 'json or yaml')
    .action(async (options) => (await import('./commands/version.ts')).version(machine, options))
  return program
}
