import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { defineContract } from '../contract.js';

/** The kinds of pictures: of a user of the platform, or of a category of streams. */
export const pictureKinds = ['user', 'category'] as const;
export type PictureKind = (typeof pictureKinds)[number];

/** The maximum size of a picture. As base64, such a picture fits into a NATS message (1 MiB). */
export const maxPictureBytes = 512 * 1024;

/** The pattern of the platform's ids. */
export const platformIdPattern = /^[0-9A-Za-z_-]{1,64}$/;

export class GetPictureRequest {
  @IsIn(pictureKinds)
  kind!: PictureKind;

  /** The id of the user or the category on the platform. */
  @Matches(platformIdPattern)
  id!: string;

  /** The hash of the picture that the caller already has; null when the caller has none. */
  @IsOptional()
  @IsString()
  knownHash!: string | null;
}

export class GetPictureReply {
  /** Changes when the picture changes. */
  @IsString()
  hash!: string;

  @IsString()
  mediaType!: string;

  /** The bytes as base64; null when the caller already has this picture. */
  @IsOptional()
  @IsString()
  bytes!: string | null;
}

/** Returns a picture, from the cache or from the platform. `not_found`: the platform has no such picture. */
export const getPicture = defineContract({
  subject: 'request.platform-connector.get-picture',
  request: GetPictureRequest,
  reply: GetPictureReply,
  errors: ['not_found'],
  // Longer than a lookup and a download together.
  timeoutMs: 11_000,
});
