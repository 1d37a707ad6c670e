import { Module } from '@nestjs/common';
import { ApiEndpointsController } from './api-endpoints.controller.js';
import { ApiEndpointsService } from './api-endpoints.service.js';
import { ScopesController } from './scopes.controller.js';
import { ScopesService } from './scopes.service.js';

/** Catalogue: scopes and API endpoint definitions. */
@Module({
  controllers: [ApiEndpointsController, ScopesController],
  providers: [ApiEndpointsService, ScopesService],
})
export class CatalogueModule {}
