/**
 * The layer of bundled rules: customizations as users write them, one file per kind. A new kind is a file and a line here.
 * A file is parsed when its kind is first needed, and a script compiled when it is first called.
 */
import { parse } from 'yaml'
import type { ResourceInterpreterCustomization } from '../../../kinds/karmada/index.ts'
import { customizationLayer } from '../configurable/customization-layer.ts'
import type { Layer } from '../interpreter.ts'
import type { CallOptions } from '../lua/script.ts'
import { ScriptCache } from '../lua/script-cache.ts'
import volcanoJob from './batch.volcano.sh/job.yaml'
import alluxioRuntime from './data.fluid.io/alluxio-runtime.yaml'
import cacheRuntime from './data.fluid.io/cache-runtime.yaml'
import dataBackup from './data.fluid.io/data-backup.yaml'
import dataLoad from './data.fluid.io/data-load.yaml'
import dataMigrate from './data.fluid.io/data-migrate.yaml'
import dataProcess from './data.fluid.io/data-process.yaml'
import dataset from './data.fluid.io/dataset.yaml'
import jindoRuntime from './data.fluid.io/jindo-runtime.yaml'
import juicefsRuntime from './data.fluid.io/juicefs-runtime.yaml'
import thinRuntime from './data.fluid.io/thin-runtime.yaml'
import pytorchJob from './kubeflow.org/pytorch-job.yaml'
import rayCluster from './ray.io/ray-cluster.yaml'
import rayJob from './ray.io/ray-job.yaml'

/** The texts, by apiVersion and kind. */
export const BUNDLED: Readonly<Record<string, string>> = Object.freeze({
  'batch.volcano.sh/v1alpha1 Job': volcanoJob,
  'data.fluid.io/v1alpha1 AlluxioRuntime': alluxioRuntime,
  'data.fluid.io/v1alpha1 CacheRuntime': cacheRuntime,
  'data.fluid.io/v1alpha1 DataBackup': dataBackup,
  'data.fluid.io/v1alpha1 DataLoad': dataLoad,
  'data.fluid.io/v1alpha1 DataMigrate': dataMigrate,
  'data.fluid.io/v1alpha1 DataProcess': dataProcess,
  'data.fluid.io/v1alpha1 Dataset': dataset,
  'data.fluid.io/v1alpha1 JindoRuntime': jindoRuntime,
  'data.fluid.io/v1alpha1 JuiceFSRuntime': juicefsRuntime,
  'data.fluid.io/v1alpha1 ThinRuntime': thinRuntime,
  'kubeflow.org/v1 PyTorchJob': pytorchJob,
  'ray.io/v1 RayCluster': rayCluster,
  'ray.io/v1 RayJob': rayJob,
})

export const bundledCustomization = (text: string): ResourceInterpreterCustomization => parse(text) as ResourceInterpreterCustomization

export function bundledLayer(options: CallOptions): Layer {
  const layers = new Map<string, Layer>()
  return {
    rulesOf(apiVersion, kind) {
      const key = `${apiVersion} ${kind}`
      const text = Object.hasOwn(BUNDLED, key) ? BUNDLED[key] : undefined
      if (text === undefined) return undefined
      let layer = layers.get(key)
      if (layer === undefined) {
        layer = customizationLayer([bundledCustomization(text)], new ScriptCache(), options)
        layers.set(key, layer)
      }
      return layer.rulesOf(apiVersion, kind)
    },
  }
}
