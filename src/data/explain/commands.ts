/** Commands that hints name, complete: whoever was asked about one cluster with --context must not be sent to another. Pure. */

export interface Commands {
  /** About an object of the namespace. */
  here(command: string): string
  /** About anything else in the cluster. */
  inCluster(command: string): string
}

/** No context: the current one of whoever asks is the right one. */
export function commandsFor(namespace: string, context: string | undefined): Commands {
  const inCluster = (command: string): string => (context === undefined ? command : `${command} --context ${context}`)
  return { here: (command) => inCluster(`${command} -n ${namespace}`), inCluster }
}
