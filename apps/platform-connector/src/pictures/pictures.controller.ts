import { Controller } from '@nestjs/common';
import { getPicture, type GetPictureReply, type GetPictureRequest } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { Pictures } from './pictures.service.js';

@Controller()
export class PicturesController {
  constructor(private readonly pictures: Pictures) {}

  @Handles(getPicture)
  async get({ kind, id, knownHash }: GetPictureRequest): Promise<GetPictureReply> {
    const { hash, mediaType, bytes } = await this.pictures.get({ kind, id });
    return { hash, mediaType, bytes: hash === knownHash ? null : bytes.toString('base64') };
  }
}
