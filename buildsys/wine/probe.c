/* Says what a folder of native libraries does, without Python: opens each library by its path as the package does, scores
 * the CPU variants, and continues a prompt greedily. It links none of them, and is the same program on every system.
 *
 *   probe FOLDER LIBRARY...                            opens the libraries, and scores those that are CPU variants
 *   probe -d FOLDER GGML LLAMA MODEL PROMPT N_TOKENS   loads the backends and decodes
 *
 * Each line of stdout is a word and its values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggml-backend.h"
#include "llama.h"

#ifdef _WIN32
#include <windows.h>

static void *open_library(const char *path) {
    /* As ctypes does: what a library needs is searched for beside it, and never in the current folder. */
    return (void *) LoadLibraryExA(path, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
}

static void *symbol(void *library, const char *name) {
    return (void *) GetProcAddress((HMODULE) library, name);
}

static const char *failure(void) {
    static char text[32];
    snprintf(text, sizeof text, "error %lu", (unsigned long) GetLastError());
    return text;
}
#else
#include <dlfcn.h>

static void *open_library(const char *path) {
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *symbol(void *library, const char *name) {
    return dlsym(library, name);
}

static const char *failure(void) {
    return dlerror();
}
#endif

enum { N_CTX = 256, N_THREADS = 2 };

static void *require_library(const char *folder, const char *file) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int) sizeof path) {
        fprintf(stderr, "probe: the path of %s is too long\n", file);
        exit(3);
    }
#ifdef _WIN32
    for (char *at = path; *at; at++) {
        *at = *at == '/' ? '\\' : *at;
    }
#endif
    void *library = open_library(path);
    if (library == NULL) {
        fprintf(stderr, "probe: %s cannot be opened: %s\n", file, failure());
        exit(3);
    }
    return library;
}

static void *require_symbol(void *library, const char *name) {
    void *address = symbol(library, name);
    if (address == NULL) {
        fprintf(stderr, "probe: %s is not exported\n", name);
        exit(4);
    }
    return address;
}

#define FUNCTION(library, name) __typeof__(&name) p_##name = (__typeof__(&name)) require_symbol(library, #name)

static int open_all(const char *folder, int n_files, char **files) {
    for (int i = 0; i < n_files; i++) {
        void *library = require_library(folder, files[i]);
        int (*score)(void) = (int (*)(void)) symbol(library, "ggml_backend_score");
        printf("opened %s %d\n", files[i], score == NULL ? -1 : score());
        fflush(stdout);
    }
    return 0;
}

static int decode(const char *folder, const char *ggml_file, const char *llama_file, const char *model_file, const char *prompt, int n_tokens) {
    void *ggml = require_library(folder, ggml_file);
    void *llama = require_library(folder, llama_file);
    FUNCTION(ggml, ggml_backend_load_all_from_path);
    FUNCTION(llama, llama_backend_init);
    FUNCTION(llama, llama_model_default_params);
    FUNCTION(llama, llama_model_load_from_file);
    FUNCTION(llama, llama_context_default_params);
    FUNCTION(llama, llama_init_from_model);
    FUNCTION(llama, llama_model_get_vocab);
    FUNCTION(llama, llama_vocab_n_tokens);
    FUNCTION(llama, llama_tokenize);
    FUNCTION(llama, llama_batch_get_one);
    FUNCTION(llama, llama_decode);
    FUNCTION(llama, llama_get_logits_ith);
    FUNCTION(llama, llama_token_to_piece);
    FUNCTION(llama, llama_free);
    FUNCTION(llama, llama_model_free);

    p_ggml_backend_load_all_from_path(folder);
    p_llama_backend_init();
    struct llama_model *model = p_llama_model_load_from_file(model_file, p_llama_model_default_params());
    if (model == NULL) {
        fprintf(stderr, "probe: the model cannot be loaded\n");
        return 5;
    }
    struct llama_context_params settings = p_llama_context_default_params();
    settings.n_ctx = N_CTX;
    settings.n_threads = settings.n_threads_batch = N_THREADS;
    struct llama_context *context = p_llama_init_from_model(model, settings);
    if (context == NULL) {
        fprintf(stderr, "probe: no context\n");
        return 5;
    }
    const struct llama_vocab *vocab = p_llama_model_get_vocab(model);
    int n_vocab = p_llama_vocab_n_tokens(vocab);
    llama_token tokens[N_CTX];
    int n_prompt = p_llama_tokenize(vocab, prompt, (int) strlen(prompt), tokens, N_CTX - n_tokens, true, true);
    if (n_prompt <= 0) {
        fprintf(stderr, "probe: the prompt is too long or empty\n");
        return 5;
    }
    for (int i = 0; i < n_prompt; i++) {
        printf("prompt %d\n", tokens[i]);
    }
    struct llama_batch batch = p_llama_batch_get_one(tokens, n_prompt);
    llama_token next;
    for (int i = 0; i < n_tokens; i++) {
        int status = p_llama_decode(context, batch);
        if (status != 0) {
            fprintf(stderr, "probe: llama_decode returned %d\n", status);
            return 6;
        }
        const float *logits = p_llama_get_logits_ith(context, -1);
        int best = 0, second = -1;
        for (int token = 1; token < n_vocab; token++) {
            if (logits[token] > logits[best]) {
                second = best;
                best = token;
            } else if (second < 0 || logits[token] > logits[second]) {
                second = token;
            }
        }
        char piece[256];
        int length = p_llama_token_to_piece(vocab, best, piece, sizeof piece, 0, true);
        printf("token %d %.9g %.9g ", best, logits[best], logits[best] - logits[second]);
        for (int at = 0; at < length; at++) {
            printf("%02x", (unsigned char) piece[at]);
        }
        printf("\n");
        fflush(stdout);
        next = best;
        batch = p_llama_batch_get_one(&next, 1);
    }
    p_llama_free(context);
    p_llama_model_free(model);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 8 && strcmp(argv[1], "-d") == 0) {
        return decode(argv[2], argv[3], argv[4], argv[5], argv[6], atoi(argv[7]));
    }
    if (argc > 2) {
        return open_all(argv[1], argc - 2, argv + 2);
    }
    fprintf(stderr, "usage: probe FOLDER LIBRARY... | probe -d FOLDER GGML LLAMA MODEL PROMPT N_TOKENS\n");
    return 2;
}
