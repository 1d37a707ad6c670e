import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { HttpMetrics } from './http-metrics.js';
import { ProblemFilter } from './problem.filter.js';
import { PublicUrl } from './public-url.js';
import { RequestLog } from './request-log.js';
import { RouteMethods } from './route-methods.js';

@Module({
  providers: [
    { provide: APP_FILTER, useClass: ProblemFilter },
    HttpMetrics,
    PublicUrl,
    RequestLog,
    RouteMethods,
  ],
  exports: [HttpMetrics, PublicUrl, RequestLog, RouteMethods],
})
export class HttpModule {}
