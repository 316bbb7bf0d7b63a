/* Which tool wrote a foreign file: a guess from its keywords, without reading it as that tool does. */
#ifndef DFL_IMPORT_DETECT_H
#define DFL_IMPORT_DETECT_H

/* The name of a tool, as the command line has it, or NULL where the text does not tell. Files of MAESTRO begin with a network or
   with constants. In YAML and JSON the keys of the outermost map decide; `arch` and `mapping` decide only if the other tool has
   another form of them. */
const char *dfl_import_detect(const char *text);

#endif
