/** image: the content of an image as a volume. Process nodes pull no images. */
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'

export const image: VolumeDriver = {
  field: 'image',
  plan: ({ image: source }) =>
    waiting(`image volumes are not supported on process nodes, which pull no images: "${source?.reference ?? ''}"`),
}
