import { Module } from '@nestjs/common';
import { OAuthModule } from '../oauth/oauth.module.js';
import { WorldModule } from '../world/world.module.js';
import { GamesController } from './games.controller.js';
import { PicturesController } from './pictures.controller.js';

@Module({ imports: [OAuthModule, WorldModule], controllers: [GamesController, PicturesController] })
export class PicturesModule {}
