import '../upper/feature.mjs'; // refused: a folder imports a folder that comes after it
