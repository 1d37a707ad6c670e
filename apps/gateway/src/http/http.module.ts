import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ProblemFilter } from './problem.filter.js';
import { PublicUrl } from './public-url.js';
import { RouteMethods } from './route-methods.js';

@Module({
  providers: [{ provide: APP_FILTER, useClass: ProblemFilter }, PublicUrl, RouteMethods],
  exports: [PublicUrl, RouteMethods],
})
export class HttpModule {}
