import type { Catalog } from '../catalog.ts'
import type { ApiRequest, ApiResponse } from '../http.ts'
import type { RequestInfo } from '../request-info.ts'
export function createOpenApi(_catalog: Catalog): (info: RequestInfo, request: ApiRequest) => ApiResponse | undefined {
  return () => undefined
}
